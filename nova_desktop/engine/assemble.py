"""The only file that builds the parts. Everything is built on first use."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nova_desktop.execute import ExecutionService
from nova_desktop.model import RuntimeName
from nova_desktop.sandbox.runtime import Runtime
from nova_desktop.settings import Paths, private_folder


class Parts:
    """The parts of one engine. Thread-safe."""

    def __init__(self, home: Path | None) -> None:
        self.environment = os.environ
        self.paths = Paths.find(home, self.environment)
        self._lock = threading.Lock()
        self._runtimes: dict[RuntimeName, Runtime[Any]] = {}
        self._builders: dict[RuntimeName, Callable[[], Runtime[Any]]] = {
            RuntimeName.WASM: self._build_wasm,
            RuntimeName.LOCAL: self._build_local,
        }
        self.execution = ExecutionService(
            runtime=self.runtime,
            environment=self.environment,
            own_folders=(self.paths.data, self.paths.cache),
        )

    def runtime(self, name: RuntimeName) -> Runtime[Any]:
        with self._lock:
            if name not in self._runtimes:
                self._runtimes[name] = self._builders[name]()
            return self._runtimes[name]

    def close(self) -> None:
        with self._lock:
            for runtime in self._runtimes.values():
                runtime.close()
            self._runtimes.clear()

    def _build_wasm(self) -> Runtime[Any]:
        from nova_desktop.sandbox.wasm import WasmRuntime

        return WasmRuntime(cache=private_folder(self.paths.cache))

    def _build_local(self) -> Runtime[Any]:
        from nova_desktop.sandbox.unconfined import LocalRuntime

        return LocalRuntime(self.environment.get("PATH", os.defpath))
