"""Our own ``wasi_snapshot_preview1``: all 46 functions, over memory alone.

Read in this order::

    errno.py             error numbers, and the exceptions that carry them inside the host
    wasi_abi.py          values, layouts and signatures of the interface
    denied.py            the record of what was refused by design
    memfs_nodes.py       files, directories, /dev/null, and what they cost
    memfs.py             the tree: names, look-up, rename; staging and reading the result
    wasi_clock.py        the guest's clocks
    wasi_descriptors.py  descriptors and the standard streams
    wasi_state.py        what the functions share, and how a method answers with an errno
    wasi_fd.py           fd_*
    wasi_path.py         path_*
    wasi_poll.py         poll_oneoff
    wasi.py              the rest

What holds in all of them: no function touches a host path, a socket, a process or the host's
environment; the guest's memory is reached through ``GuestMemory`` only; a bad pointer is found
before anything is done; what the host is made to keep is charged first.

Where we differ from the specification, or choose where it leaves a choice:

- There are no links: ``path_link`` and ``path_symlink`` answer PERM and are recorded,
  ``path_readlink`` answers INVAL. There are no sockets: ``sock_*`` answer NOTSOCK (BADF for an
  unknown descriptor), ``proc_raise`` NOTSUP, and all are recorded.
- An absolute path, or one that leads above its descriptor, is PERM and recorded; a change
  outside ``/work`` and ``/tmp`` is ROFS and recorded. A missing right is NOTCAPABLE.
- No call moves more than 4 MiB: reads and writes return short counts; ``random_get`` (4 MiB) and
  ``fd_readdir`` (1 MiB), which cannot, answer INVAL. More than 1,024 vectors or subscriptions
  are INVAL. At most 4,096 descriptors are open (MFILE).
- Paths have at most 4,096 bytes, names 255, and nothing lies deeper than 64 names
  (NAMETOOLONG); a file has at most 1 TiB (FBIG).
- A write is done wholly or not at all: at the end of the budget it is NOSPC, not short.
  ``fd_allocate`` checks for room and does not reserve it.
- Appending descriptors append in ``fd_pwrite`` too, as on Linux. Reading leaves access times.
- ``fd_renumber`` only replaces a descriptor that is open (else BADF).
- What is made while a directory is read is listed when it is read from the start again.
- Both CPU clocks are the time of the guest's one thread; subscriptions to them are NOTSUP.
"""

from __future__ import annotations

import os
import struct
from typing import Final, NoReturn

from nova_desktop.sandbox.wasm.control import GuestExit
from nova_desktop.sandbox.wasm.denied import RULE_SIGNALS, RULE_SOCKETS
from nova_desktop.sandbox.wasm.errno import Errno, RefusedCall, WasiError
from nova_desktop.sandbox.wasm.wasi_abi import SIGNATURES
from nova_desktop.sandbox.wasm.wasi_path import PathCalls
from nova_desktop.sandbox.wasm.wasi_poll import PollCalls
from nova_desktop.sandbox.wasm.wasi_state import MAX_TRANSFER_BYTES, answers_errno

__all__ = ["SIGNATURES", "WasiHost"]

_RANDOM_PIECE_BYTES: Final = 1 << 16


class WasiHost(PathCalls, PollCalls):
    """The functions of one run, named and ordered as in the specification.

    Each takes unsigned integers and returns an errno. Raised through: ``GuestFault`` (the
    isolate answers FAULT), ``RunEnded`` and ``GuestExit``. Used on one thread, the guest's.
    """

    __slots__ = ()

    @answers_errno
    def args_get(self, argv: int, argv_buf: int) -> None:
        self._write_strings(self.arguments, argv, argv_buf)

    @answers_errno
    def args_sizes_get(self, count_ptr: int, size_ptr: int) -> None:
        self._write_sizes(self.arguments, count_ptr, size_ptr)

    @answers_errno
    def environ_get(self, environ: int, environ_buf: int) -> None:
        self._write_strings(self.environment, environ, environ_buf)

    @answers_errno
    def environ_sizes_get(self, count_ptr: int, size_ptr: int) -> None:
        self._write_sizes(self.environment, count_ptr, size_ptr)

    @answers_errno
    def clock_res_get(self, clock_id: int, resolution_ptr: int) -> None:
        self.clock.now(clock_id)
        self.memory.write_u64(resolution_ptr, self.clock.resolution_ns)

    @answers_errno
    def clock_time_get(self, clock_id: int, _precision: int, time_ptr: int) -> None:
        """Never finer than the run's resolution, whatever precision is asked for."""
        self.memory.write_u64(time_ptr, self.clock.now(clock_id))

    def proc_exit(self, code: int) -> NoReturn:
        raise GuestExit(code)

    @answers_errno
    def proc_raise(self, signal: int) -> None:
        raise RefusedCall(Errno.NOTSUP, RULE_SIGNALS, f"signal {signal}")

    @answers_errno
    def sched_yield(self) -> None:
        self.control.check()

    @answers_errno
    def random_get(self, buf: int, buf_len: int) -> None:
        """INVAL for more than 4 MiB: a short count cannot be told here."""
        if buf_len > MAX_TRANSFER_BYTES:
            raise WasiError(Errno.INVAL)
        self.check_range(buf, buf_len)
        for done in range(0, buf_len, _RANDOM_PIECE_BYTES):
            self.control.check()
            self.memory.write(buf + done, os.urandom(min(_RANDOM_PIECE_BYTES, buf_len - done)))

    @answers_errno
    def sock_accept(self, fd: int, _flags: int, _fd_ptr: int) -> None:
        self._refuse_socket(fd)

    @answers_errno
    def sock_recv(
        self, fd: int, _iovs: int, _iovs_len: int, _flags: int, _size_ptr: int, _flags_ptr: int
    ) -> None:
        self._refuse_socket(fd)

    @answers_errno
    def sock_send(self, fd: int, _iovs: int, _iovs_len: int, _flags: int, _size_ptr: int) -> None:
        self._refuse_socket(fd)

    @answers_errno
    def sock_shutdown(self, fd: int, _how: int) -> None:
        self._refuse_socket(fd)

    def _refuse_socket(self, fd: int) -> NoReturn:
        errno = Errno.NOTSOCK if fd in self.descriptors else Errno.BADF
        raise RefusedCall(errno, RULE_SOCKETS, f"descriptor {fd}")

    def _write_strings(self, strings: list[bytes], pointers_ptr: int, buffer_ptr: int) -> None:
        block = b"".join(strings)
        self.check_range(pointers_ptr, 4 * len(strings))
        self.memory.write(buffer_ptr, block)
        pointers = []
        for string in strings:
            pointers.append(buffer_ptr)
            buffer_ptr += len(string)
        self.memory.write(pointers_ptr, struct.pack(f"<{len(pointers)}I", *pointers))

    def _write_sizes(self, strings: list[bytes], count_ptr: int, size_ptr: int) -> None:
        self.check_range(size_ptr, 4)
        self.memory.write_u32(count_ptr, len(strings))
        self.memory.write_u32(size_ptr, sum(map(len, strings)))
