from __future__ import annotations

import inspect

from nova_desktop.sandbox.wasm import wasi_abi as abi
from nova_desktop.sandbox.wasm.wasi import WasiHost


def test_the_46_functions_are_there_with_the_parameters_of_the_interface() -> None:
    assert len(abi.SIGNATURES) == 46
    for name, parameters in abi.SIGNATURES.items():
        function = inspect.unwrap(getattr(WasiHost, name))
        own = list(inspect.signature(function).parameters)[1:]
        assert len(own) == len(parameters), name
        assert set(parameters) <= {"i32", "i64"}


def test_64_bit_parameters_are_offsets_times_rights_and_cookies() -> None:
    wide = {
        name: [i for i, kind in enumerate(parameters) if kind == "i64"]
        for name, parameters in abi.SIGNATURES.items()
        if "i64" in parameters
    }
    assert wide == {
        "clock_time_get": [1],
        "fd_advise": [1, 2],
        "fd_allocate": [1, 2],
        "fd_fdstat_set_rights": [1, 2],
        "fd_filestat_set_size": [1],
        "fd_filestat_set_times": [1, 2],
        "fd_pread": [3],
        "fd_pwrite": [3],
        "fd_readdir": [3],
        "fd_seek": [1],
        "path_filestat_set_times": [4, 5],
        "path_open": [5, 6],
    }


def test_structures_have_the_sizes_of_the_specification() -> None:
    assert abi.DIRENT.size == 24
    assert abi.EVENT.size == 32
    assert abi.FDSTAT.size == 24
    assert abi.FILESTAT.size == 64
    assert abi.IOVEC.size == 8
    assert abi.PRESTAT.size == 8
    assert abi.SUBSCRIPTION.size == 48


def test_rights_are_thirty_distinct_bits() -> None:
    rights = [value for name, value in vars(abi).items() if name.startswith("RIGHT_")]
    assert sorted(rights) == [1 << bit for bit in range(30)]
