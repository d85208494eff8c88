"""Whether a request makes sense: a list of named checks, before anything is read or started."""

from __future__ import annotations

import dataclasses
import math
import os
import re
import stat
from collections.abc import Callable, Mapping
from pathlib import Path

from nova_desktop.hostfs import NameRules, name_problem
from nova_desktop.model import (
    MIB,
    ExecutionRequest,
    InvalidRequest,
    Language,
    RuntimeName,
)
from nova_desktop.policy import build_guest_env

MAX_SOURCE_BYTES = 4 * MIB
"""A program is read by a person or written by a model; larger is data in the wrong place."""
MAX_ARGUMENTS_BYTES = 1 * MIB
MAX_PATH_BYTES = 4096 - len("/work/")
MAX_PATH_DEPTH = 63
"""Both as in the guest's file system, which counts ``/work`` as well."""

_ZONE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_+/-]{0,63}\Z")


def validated(request: ExecutionRequest) -> ExecutionRequest:
    """The request with its enums as enums, or an error that names the first thing wrong.

    Raises:
        InvalidRequest: see ``CHECKS``.
        Refused: a variable is shaped like a credential.
    """
    language, runtime = _language(request.language), _runtime(request.runtime)
    if language is not request.language or runtime is not request.runtime:
        request = dataclasses.replace(request, language=language, runtime=runtime)
    for check in CHECKS:
        check(request)
    return request


def _language(value: str) -> Language:
    try:
        return Language(value)
    except ValueError:
        raise InvalidRequest(
            "request.unknown_language",
            f"{value!r} is not a language that Nova runs.",
            f"Use one of {', '.join(Language)}.",
        ) from None


def _runtime(value: str | None) -> RuntimeName | None:
    try:
        return None if value is None else RuntimeName(value)
    except ValueError:
        raise InvalidRequest(
            "request.unknown_runtime",
            f"{value!r} is not a runtime.",
            f"Use one of {', '.join(RuntimeName)}.",
        ) from None


def one_program(request: ExecutionRequest) -> None:
    if (request.source is None) == (request.entry is None):
        both = "both" if request.source is not None else "neither"
        raise InvalidRequest(
            "request.source_or_entry",
            f"The program is given as source text or as an entry in the workspace; this has"
            f" {both}.",
            "Give exactly one of them.",
        )


def source_is_text(request: ExecutionRequest) -> None:
    if request.source is None:
        return
    if "\0" in request.source:
        raise InvalidRequest(
            "request.source_has_nul",
            "The program contains a NUL character, so it is not a program's text.",
            "Check that this is the source file, not a compiled or binary one.",
        )
    try:
        size = len(request.source.encode())
    except UnicodeEncodeError:
        raise InvalidRequest(
            "request.source_not_unicode",
            "The program's text is not valid Unicode (it holds half of a surrogate pair).",
            "Save the program as UTF-8.",
        ) from None
    if size > MAX_SOURCE_BYTES:
        raise InvalidRequest(
            "request.source_too_large",
            f"The program is {size:,} bytes long; the most is {MAX_SOURCE_BYTES:,}.",
            "Put its data in a file of the workspace and read it from there.",
        )


def source_name_is_text(request: ExecutionRequest) -> None:
    name = request.source_name
    if not name or "\0" in name or not _is_unicode(name) or len(name.encode()) > MAX_PATH_BYTES:
        raise InvalidRequest(
            "request.bad_source_name",
            "The program's name cannot be shown in a traceback.",
            "Use a short name without NUL characters, like report.py.",
        )


def entry_is_inside(request: ExecutionRequest) -> None:
    if request.entry is None:
        return
    if reason := _path_problem(request.entry):
        raise InvalidRequest(
            "request.bad_entry",
            f"The entry {request.entry!r} is not a path inside the workspace: {reason}.",
            "Give it relative to the workspace, with / between folders: pkg/main.py.",
        )
    if request.workspace is None and not request.files:
        raise InvalidRequest(
            "request.entry_without_workspace",
            f"The entry {request.entry!r} needs a workspace that holds it.",
            "Name the folder as workspace, or give the program as source.",
        )


def files_are_values(request: ExecutionRequest) -> None:
    if request.files and request.workspace is not None:
        raise InvalidRequest(
            "request.files_and_workspace",
            "Files were given as values and a folder as workspace; /work can be only one.",
            "Give one of them.",
        )
    # Callers without a type checker pass text, so the types are looked at as well.
    files: Mapping[object, object] = dict(request.files.items())
    for path, content in files.items():
        reason = _path_problem(path)
        if not reason and not isinstance(content, bytes):
            reason = "its content is not bytes"
        if not reason and any(parent in files for parent in _parents(str(path))):
            reason = "one of its folders is given as a file as well"
        if reason:
            raise InvalidRequest(
                "request.bad_file",
                f"The file {path!r} cannot be given: {reason}.",
                "Use relative paths with / between folders, and bytes as content.",
            )


def arguments_are_text(request: ExecutionRequest) -> None:
    for argument in request.arguments:
        if not isinstance(argument, str) or "\0" in argument or not _is_unicode(argument):
            raise InvalidRequest(
                "request.bad_argument",
                f"The argument {argument!r} is not text that a program can receive.",
                "Pass valid Unicode without NUL characters.",
            )
    size = sum(len(argument.encode()) for argument in request.arguments)
    if size > MAX_ARGUMENTS_BYTES:
        raise InvalidRequest(
            "request.arguments_too_large",
            f"The arguments are {size:,} bytes long; the most is {MAX_ARGUMENTS_BYTES:,}.",
            "Pass long data on standard input or in a file.",
        )


def stdin_is_bytes(request: ExecutionRequest) -> None:
    if request.stdin is None:
        return
    if not isinstance(request.stdin, bytes):
        raise InvalidRequest(
            "request.bad_stdin",
            "Standard input was not given as bytes.",
            "Encode the text first.",
        )
    if len(request.stdin) >= request.limits.memory_bytes:
        raise InvalidRequest(
            "request.stdin_too_large",
            f"Standard input is {len(request.stdin):,} bytes; the run's memory limit is"
            f" {request.limits.memory_bytes:,}.",
            "Raise the memory limit, or put the data in a file of the workspace.",
        )


def environment_is_harmless(request: ExecutionRequest) -> None:
    build_guest_env(request.environment)


def limits_are_positive(request: ExecutionRequest) -> None:
    for field in dataclasses.fields(request.limits):
        value = getattr(request.limits, field.name)
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not math.isfinite(value) or value <= 0:
            raise InvalidRequest(
                "request.bad_limit",
                f"The limit {field.name} is {value!r}; a limit is a number greater than zero.",
                "Leave it out for the usual limit, or give a larger one.",
                limit=field.name,
            )


def timezone_is_a_name(request: ExecutionRequest) -> None:
    """Only the shape: whether there is such a zone, its runtime knows."""
    zone = request.timezone
    if not _ZONE.match(zone) or ".." in zone:
        raise InvalidRequest(
            "request.unknown_timezone",
            f"{zone!r} is not the name of a time zone.",
            "Use an IANA name like Europe/Berlin or America/New_York, or UTC.",
        )


CHECKS: tuple[Callable[[ExecutionRequest], None], ...] = (
    limits_are_positive,
    one_program,
    source_is_text,
    source_name_is_text,
    entry_is_inside,
    files_are_values,
    arguments_are_text,
    stdin_is_bytes,
    environment_is_harmless,
    timezone_is_a_name,
)


def read_program(path: Path) -> str:
    """The text of a program file of the owner's.

    Raises:
        InvalidRequest: ``program.*``: it is missing, a folder, unreadable, binary, too large
            or not UTF-8.
    """
    try:
        with path.open("rb") as file:
            state = os.fstat(file.fileno())
            if stat.S_ISBLK(state.st_mode) or stat.S_ISCHR(state.st_mode):
                raise _bad_program("program.not_a_file", path, "it is a device")
            content = file.read(MAX_SOURCE_BYTES + 1)
    except FileNotFoundError:
        raise _bad_program("program.not_found", path, "there is no such file") from None
    except (IsADirectoryError, NotADirectoryError):
        reason = "it is a folder" if path.is_dir() else "a part of its path is not a folder"
        raise _bad_program("program.is_a_folder", path, reason) from None
    except ValueError:
        raise _bad_program("program.not_found", path, "its name holds a NUL") from None
    except OSError as error:
        reason = (error.strerror or "the system refused").lower()
        raise _bad_program("program.unreadable", path, reason) from error
    if len(content) > MAX_SOURCE_BYTES:
        raise _bad_program(
            "request.source_too_large", path, f"it is longer than {MAX_SOURCE_BYTES:,} bytes"
        )
    if b"\0" in content:
        raise _bad_program("program.binary", path, "it is a binary file, not a program's text")
    try:
        # A byte order mark is the editor's, not the program's.
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _bad_program("program.not_utf8", path, f"line {line} is not valid UTF-8") from None


_PROGRAM_REMEDIES = {
    "program.not_found": "Check the path and its spelling.",
    "program.is_a_folder": "Name the program's file inside it; name a folder of data with --work.",
    "program.not_a_file": "Name a regular file, or - for standard input.",
    "program.unreadable": "Give yourself permission to read it.",
    "program.binary": "Name the source file, not a compiled or packed one.",
    "program.not_utf8": "Save it as UTF-8 in your editor.",
    "request.source_too_large": "Put its data in a file of the workspace and read it from there.",
}


def _bad_program(code: str, path: Path, reason: str) -> InvalidRequest:
    shown = os.fsencode(path).decode("utf-8", "backslashreplace")
    return InvalidRequest(
        code, f"The program {shown} cannot be run: {reason}.", _PROGRAM_REMEDIES[code]
    )


def _path_problem(path: object) -> str:
    if not isinstance(path, str) or not path:
        return "it is empty"
    if path.startswith("/"):
        return "it is absolute"
    parts = path.split("/")
    for part in parts:
        if problem := name_problem(part, NameRules.POSIX):
            return problem.reason
    if len(parts) > MAX_PATH_DEPTH or len(path.encode()) > MAX_PATH_BYTES:
        return f"it is deeper than {MAX_PATH_DEPTH} folders or longer than {MAX_PATH_BYTES} bytes"
    return ""


def _parents(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
