"""What the WASI functions of one run share, and how a method answers with an errno."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Concatenate, Final, ParamSpec, Protocol, TypeVar

from nova_desktop.model import Stream
from nova_desktop.sandbox.wasm.budget import BudgetExceeded, MemoryBudget
from nova_desktop.sandbox.wasm.control import RunControl
from nova_desktop.sandbox.wasm.denied import DeniedLog
from nova_desktop.sandbox.wasm.errno import Errno, RefusedCall, WasiError
from nova_desktop.sandbox.wasm.memfs import MemoryFileSystem
from nova_desktop.sandbox.wasm.memfs_nodes import Directory
from nova_desktop.sandbox.wasm.wasi_abi import (
    DIRECTORY_RIGHTS,
    FILE_RIGHTS,
    INPUT_RIGHTS,
    OUTPUT_RIGHTS,
)
from nova_desktop.sandbox.wasm.wasi_clock import GuestClock
from nova_desktop.sandbox.wasm.wasi_descriptors import (
    Descriptor,
    DescriptorTable,
    InputStream,
    OutputStream,
)

MAX_TRANSFER_BYTES: Final = 4 << 20
"""No call moves more; reading and writing then return short counts."""
MAX_VECTORS: Final = 1024
"""Most iovecs or subscriptions of one call."""


class GuestMemory(Protocol):
    """The guest's linear memory. Pointers and lengths are unsigned; each method raises
    ``GuestFault``, and copies nothing, when the range is not inside the memory."""

    def read(self, pointer: int, length: int) -> bytes: ...

    def write(self, pointer: int, data: bytes | bytearray | memoryview) -> None: ...

    def write_u32(self, pointer: int, value: int) -> None: ...

    def write_u64(self, pointer: int, value: int) -> None: ...


class _NoMemory:
    """Stands where the isolate puts the guest's memory once there is a guest."""

    def __getattr__(self, name: str) -> object:
        raise RuntimeError("a WASI function was called before the guest had memory")


class WasiState:
    """Base of the classes that implement the functions; everything belongs to one run."""

    __slots__ = (
        "arguments",
        "clock",
        "control",
        "denied",
        "descriptors",
        "environment",
        "files",
        "memory",
    )

    def __init__(
        self,
        *,
        files: MemoryFileSystem,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        stdin: bytes | None,
        output: Callable[[Stream, bytes], None],
        control: RunControl,
        budget: MemoryBudget,
        denied: DeniedLog,
        clock_resolution_ns: int,
    ) -> None:
        """``output`` receives what the guest writes to its streams, and may raise ``RunEnded``.

        Raises:
            ValueError: an argument or variable contains a NUL byte.
        """
        self.memory: GuestMemory = _NoMemory()  # type: ignore[assignment]
        self.files = files
        self.control = control
        self.denied = denied
        self.clock = GuestClock(clock_resolution_ns)
        files.clock = self.clock.realtime
        self.arguments = [_c_string(argument) for argument in arguments]
        self.environment = [_c_string(f"{name}={value}") for name, value in environment.items()]
        self.descriptors = DescriptorTable(budget, files)
        for fd, descriptor in (
            (0, Descriptor(InputStream(stdin or b""), INPUT_RIGHTS)),
            (1, Descriptor(OutputStream(Stream.STDOUT, output), OUTPUT_RIGHTS)),
            (2, Descriptor(OutputStream(Stream.STDERR, output), OUTPUT_RIGHTS)),
            (
                3,
                Descriptor(
                    files.root, DIRECTORY_RIGHTS, DIRECTORY_RIGHTS | FILE_RIGHTS, preopened=b"/"
                ),
            ),
        ):
            self.descriptors.preopen(fd, descriptor)

    def directory(self, fd: int, rights: int) -> Directory:
        """Raises:
        WasiError: BADF, NOTDIR, NOTCAPABLE.
        """
        node = self.descriptors.get(fd).node
        if not isinstance(node, Directory):
            raise WasiError(Errno.NOTDIR)
        self.descriptors.get(fd, rights)
        return node

    def check_range(self, pointer: int, length: int) -> None:
        """Find a bad pointer before anything is done.

        Raises:
            GuestFault
        """
        self.memory.read(pointer + length, 0)


State = TypeVar("State", bound=WasiState)
Parameters = ParamSpec("Parameters")


def answers_errno(
    method: Callable[Concatenate[State, Parameters], None],
) -> Callable[Concatenate[State, Parameters], int]:
    """Make a function of the interface from a method that raises when it cannot do its work.

    ``GuestFault``, ``RunEnded`` and ``GuestExit`` pass: the isolate turns them into FAULT and
    into the end of the run.
    """
    operation = method.__name__

    @functools.wraps(method)
    def function(self: State, /, *args: Parameters.args, **kwargs: Parameters.kwargs) -> int:
        try:
            method(self, *args, **kwargs)
        except RefusedCall as error:
            self.denied.record(operation, error.target, error.rule)
            return error.errno
        except WasiError as error:
            return error.errno
        except BudgetExceeded:
            return Errno.NOSPC
        return Errno.SUCCESS

    return function


def _c_string(text: str) -> bytes:
    encoded = text.encode("utf-8", "surrogateescape")
    if b"\0" in encoded:
        raise ValueError("an argument or environment variable contains a NUL byte")
    return encoded + b"\0"
