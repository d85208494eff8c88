"""What the owner said in environment variables, read once and checked.

A misspelt value is an error, never a default: a typing mistake in a sandbox's setting must not
quietly choose another sandbox.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from nova_desktop.model import InvalidRequest, RuntimeName

RUNTIME_VARIABLE = "NOVA_SANDBOX_RUNTIME"
ALLOW_LOCAL_VARIABLE = "NOVA_SANDBOX_ALLOW_LOCAL"


@dataclass(frozen=True, slots=True)
class RuntimeSettings:
    """The owner's choice of runtime, as far as the environment states it."""

    runtime: RuntimeName | None = None
    """None: the variable is not set."""
    allow_local: bool = False
    """The first of the two keys of the unconfined runtime."""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> RuntimeSettings:
        """Raises:
        InvalidRequest: a variable holds a value that means nothing.
        """
        return cls(
            runtime=_runtime(environment.get(RUNTIME_VARIABLE, "")),
            allow_local=_allow_local(environment.get(ALLOW_LOCAL_VARIABLE, "")),
        )


def _runtime(value: str) -> RuntimeName | None:
    if not value:
        return None
    try:
        return RuntimeName(value)
    except ValueError:
        known = ", ".join(RuntimeName)
        raise InvalidRequest(
            "settings.unknown_runtime",
            f"{RUNTIME_VARIABLE} is set to {value!r}, which is not a runtime.",
            f"Set it to one of {known}, or unset it.",
            variable=RUNTIME_VARIABLE,
        ) from None


def _allow_local(value: str) -> bool:
    if value in {"", "0"}:
        return False
    if value == "1":
        return True
    raise InvalidRequest(
        "settings.bad_value",
        f"{ALLOW_LOCAL_VARIABLE} is set to {value!r}; only 1 and 0 mean anything.",
        "Set it to 1 to allow running code without any protection, or unset it.",
        variable=ALLOW_LOCAL_VARIABLE,
    )
