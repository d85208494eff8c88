"""Importing from the two archives that the host maps into ``/usr/lib``."""

from __future__ import annotations

import os
import sys
import zipimport
from importlib.machinery import ModuleSpec

STDLIB = "/usr/lib/python313.zip"
PACKAGES = "/usr/lib/python3-packages.zip"


class ArchiveImporter(zipimport.zipimporter):
    """zipimport's importer, which decompresses and decodes each module twice: once for its file
    name, then for its code. The name can be told without.
    """

    def find_spec(self, fullname: str, target: object = None) -> ModuleSpec | None:
        is_package = zipimport._get_module_info(self, fullname)
        if is_package is None:
            return super().find_spec(fullname, target)  # a folder without __init__, or nothing
        path = f"{self.archive}/{zipimport._get_module_path(self, fullname)}"
        origin = f"{path}/__init__.pyc" if is_package else f"{path}.pyc"
        spec = ModuleSpec(fullname, self, origin=origin, is_package=is_package)
        spec.has_location = True
        if is_package:
            spec.submodule_search_locations = [path]
        return spec


def importer_for(path: str) -> ArchiveImporter:
    """A hook of ``sys.path_hooks`` for our archives and the folders in them."""
    if path.startswith((STDLIB, PACKAGES)):
        return ArchiveImporter(path)
    raise ImportError(f"not one of the runtime's archives: {path}")


def install() -> None:
    """Read the archives' directories now, so that a first import reads only the module."""
    sys.path_hooks.insert(0, importer_for)
    for path in (STDLIB, PACKAGES):
        if os.path.exists(path):
            sys.path_importer_cache[path] = ArchiveImporter(path)
