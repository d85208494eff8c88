"""How a program ends: its exit code, its traceback, and what CPython does when it exits.

The interpreter is never finalised (the instance is dropped instead), so ``finish`` does the
parts of ``Py_FinalizeEx`` that a program can see: atexit handlers, destructors, flushed files.
Everything here runs after the program, which may have replaced whatever it could reach; hence
the private builtins and the references taken at import.
"""

from __future__ import annotations

import atexit
import gc
import logging
import sys
from _json import encode_basestring_ascii as _json_string
from io import BufferedRandom, BufferedWriter, TextIOWrapper
from os import fsdecode as _fsdecode
from types import ModuleType, TracebackType
from weakref import ref

import _nova

from _nova_guest.pristine import builtins as __builtins__  # noqa: F401 - see pristine

_KEYBOARD_INTERRUPT_STATUS = 130
_FLUSH_FAILED_STATUS = 120
_REPORT_CHARACTERS = 4_096
"""Of each field of a report; the host takes at most 64 KiB of JSON."""
_SHOWN_FRAMES = 2_000
"""At each end of a traceback; a program that raised the recursion limit makes a million."""
_RESERVE_BYTES = 2 << 20
"""More than one arena of CPython's allocator (1 MiB, aligned)."""

_stdout, _stderr = sys.stdout, sys.stderr
_default_hook = sys.__excepthook__
_collect, _objects = gc.collect, gc.get_objects
_run_atexit = atexit._run_exitfuncs
_report = _nova.report
_set_recursion_limit = sys.setrecursionlimit
_recursion_limit = sys.getrecursionlimit()
_modules = sys.modules
_log_handlers = logging._handlerList
_shut_logging_down = logging.shutdown
_own_log_handlers = 0

_reserve: list[bytearray] = []
_own_modules: dict[str, ModuleType] = {}


def remember_snapshot() -> None:
    """What is in ``sys.modules`` now is not the program's."""
    global _own_log_handlers
    # Registered before any handler of the program, so it would run last: finish does that, and
    # only for a program that logs.
    atexit.unregister(_shut_logging_down)
    _own_log_handlers = len(_log_handlers)
    _own_modules.clear()
    _own_modules.update(_modules)
    _own_modules.pop("__main__", None)


def set_memory_aside() -> None:
    """Called last before the snapshot: all zeros at the end of the heap cost nothing in it."""
    _reserve.append(bytearray(_RESERVE_BYTES))


def failed(error: BaseException) -> int:
    """The exit code of a program that raised, after showing what it raised as CPython does."""
    # Memory may be what ran out: the display and the report need some.
    _reserve.clear()
    _set_recursion_limit(_recursion_limit)
    if error.__traceback__ is not None:
        error.__traceback__ = _without_ours(error.__traceback__)
    if isinstance(error, SystemExit):
        return _exit_status(error)
    status = _show(error)
    _send_report(error)
    return status


def _without_ours(traceback: TracebackType) -> TracebackType | None:
    """The frames of the program: none when ``begin`` raised, and not all of a million."""
    if traceback.tb_frame.f_globals.get("__name__") == "_nova_guest.program":
        return None
    frames = []
    frame: TracebackType | None = traceback
    while frame is not None:
        frames.append(frame)
        frame = frame.tb_next
    if len(frames) > 2 * _SHOWN_FRAMES:
        frames[_SHOWN_FRAMES - 1].tb_next = frames[-_SHOWN_FRAMES]
    return traceback


def _exit_status(error: SystemExit) -> int:
    code = error.code
    if code is None:
        return 0
    if isinstance(code, int):
        # CPython takes it for a C long, -1 when it does not fit; the system keeps the last byte.
        return code & 0xFF if -(2**63) <= code < 2**63 else 0xFF
    _write(f"{_text(code)}\n")
    return 1


def _show(error: BaseException) -> int:
    status = _KEYBOARD_INTERRUPT_STATUS if isinstance(error, KeyboardInterrupt) else 1
    _use_working_stderr()
    sys.last_exc = sys.last_value = error
    sys.last_type, sys.last_traceback = type(error), error.__traceback__
    hook = getattr(sys, "excepthook", None)
    if hook is None and not hasattr(sys, "excepthook"):
        _write("sys.excepthook is missing\n")
        hook = _default_hook
    if hook is _default_hook:
        _default_hook(type(error), error, error.__traceback__)
        return status
    try:
        hook(type(error), error, error.__traceback__)
    except SystemExit as exit_request:
        return _exit_status(exit_request)
    except BaseException as second:
        _show_ignored("Error in sys.excepthook:", second)
        _write("\nOriginal exception was:\n")
        _default_hook(type(error), error, error.__traceback__)
    return status


def _use_working_stderr() -> None:
    """A traceback must not vanish because the program broke or closed its sys.stderr."""
    stream = getattr(sys, "stderr", None)
    if stream is _stderr:
        return
    try:
        stream.write("")
        stream.flush()
    except BaseException:
        sys.stderr = _stderr


def _write(text: str) -> None:
    _use_working_stderr()
    sys.stderr.write(text)


def _text(value: object) -> str:
    """``str(value)`` runs the program's code, which may fail."""
    try:
        return str(value)
    except BaseException:
        return f"<{type(value).__name__} object: its text could not be made>"


def _send_report(error: BaseException) -> None:
    module = error.name if isinstance(error, ImportError) else None
    path = error.filename if isinstance(error, OSError) else None
    fields = {
        "type": type(error).__name__,
        "message": _text(error),
        "module": module if isinstance(module, str) else "",
        "path": _path_text(path),
    }
    body = ", ".join(
        f'"{name}": {_json_string(str.__str__(value)[:_REPORT_CHARACTERS])}'
        for name, value in fields.items()
    )
    _report(f"{{{body}}}".encode("ascii"))


def _path_text(path: object) -> str:
    if isinstance(path, (str, bytes)):
        return _fsdecode(path)
    return _text(path) if hasattr(path, "__fspath__") else ""


def finish(status: int) -> int:
    """Everything between the program's last statement and the exit code of the run."""
    _set_recursion_limit(_recursion_limit)
    _run_atexit()
    if len(_log_handlers) > _own_log_handlers:
        try:
            _shut_logging_down()
        except BaseException as error:
            _show_ignored("Exception ignored in atexit callback <function shutdown>:", error)
    flushed = _flush_standard_streams()
    _drop_program()
    flushed = _flush_standard_streams() and flushed
    return status if flushed else _FLUSH_FAILED_STATUS


def _flush_standard_streams() -> bool:
    flushed = True
    for name, stream in (("stdout", getattr(sys, "stdout", None)), ("stdout", _stdout)):
        try:
            if stream is not None and not getattr(stream, "closed", False):
                stream.flush()
        except BaseException as error:
            flushed = False
            _show_ignored(f"Exception ignored on flushing sys.{name}:", error)
    _use_working_stderr()
    if not _stderr.closed:
        _stderr.flush()
    return flushed


def _show_ignored(headline: str, error: BaseException) -> None:
    """Show an exception that changes nothing any more, without our own frame, its first one."""
    error.__traceback__ = error.__traceback__ and error.__traceback__.tb_next
    error.__context__ = None
    _write(f"{headline}\n")
    _default_hook(type(error), error, error.__traceback__)


def _drop_program() -> None:
    """Let go of the program's objects: destructors run, files are flushed and closed."""
    for name in ("last_exc", "last_type", "last_value", "last_traceback"):
        vars(sys).pop(name, None)
    # The collector may close the raw file in a cycle before what is buffered above it is flushed.
    _flush_files()
    survivors = []
    for name in _new_modules():
        module = _modules.pop(name)
        if isinstance(module, ModuleType):
            survivors.append(ref(module))
        del module
    _collect()
    for survivor in survivors:
        module = survivor()
        if module is not None:
            _clear(vars(module))
        del module
    _flush_files()


def _new_modules() -> list[str]:
    """The program's, which are the last ones; to look at each of the snapshot's would count its
    references up and down, and so copy a page for each (0.7 ms in all).
    """
    names = []
    for name in reversed(_modules):
        if _own_modules.get(name) is _modules[name]:
            break
        names.append(name)
    names.reverse()
    return names


def _clear(namespace: dict[str, object]) -> None:
    """As ``_PyModule_ClearDict``: private names first, then all others but the builtins."""
    for private in (True, False):
        for name in list(namespace):
            is_private = name[:1] == "_" and name[1:2] != "_"
            if is_private is private and name != "__builtins__":
                namespace[name] = None


def _flush_files() -> None:
    for thing in _objects():
        if type(thing) in (TextIOWrapper, BufferedWriter, BufferedRandom):
            try:
                if not thing.closed:
                    thing.flush()
            except (OSError, ValueError) as error:
                _show_ignored(f"Exception ignored in: {_text(thing)}", error)
