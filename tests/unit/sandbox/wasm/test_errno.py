from __future__ import annotations

from nova_desktop.sandbox.wasm.errno import Errno, RefusedCall, WasiError


def test_the_numbers_are_those_of_the_specification() -> None:
    assert [errno.value for errno in Errno] == list(range(77))
    spot_checks = {
        Errno.ACCES: 2,
        Errno.BADF: 8,
        Errno.EXIST: 20,
        Errno.FAULT: 21,
        Errno.INVAL: 28,
        Errno.ISDIR: 31,
        Errno.NAMETOOLONG: 37,
        Errno.NOENT: 44,
        Errno.NOSPC: 51,
        Errno.NOTDIR: 54,
        Errno.NOTEMPTY: 55,
        Errno.NOTSUP: 58,
        Errno.PERM: 63,
        Errno.ROFS: 69,
        Errno.SPIPE: 70,
        Errno.XDEV: 75,
        Errno.NOTCAPABLE: 76,
    }
    assert {errno: errno.value for errno in spot_checks} == spot_checks


def test_a_refusal_is_an_error_that_names_its_rule() -> None:
    refusal = RefusedCall(Errno.PERM, "wasi.links", b"a -> b")
    assert isinstance(refusal, WasiError)
    assert (refusal.errno, refusal.rule, refusal.target) == (Errno.PERM, "wasi.links", b"a -> b")
