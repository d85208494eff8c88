"""Which runtime runs a request. Decided once, before the start; nothing ever stands in."""

from __future__ import annotations

from nova_desktop.model import (
    ExecutionRequest,
    InvalidRequest,
    Language,
    Refused,
    RuntimeName,
    RuntimeUnavailable,
)
from nova_desktop.settings import RuntimeSettings

LANGUAGES: dict[RuntimeName, frozenset[Language]] = {
    RuntimeName.WASM: frozenset({Language.PYTHON, Language.JAVASCRIPT}),
    RuntimeName.LOCAL: frozenset(Language),
}
"""What each runtime that exists can run."""


def choose_runtime(
    request: ExecutionRequest, settings: RuntimeSettings, *, owner_typed_runtime: bool
) -> RuntimeName:
    """The request's runtime, else the owner's, else WASM; ``auto`` resolved.

    ``owner_typed_runtime``: the owner typed the request's runtime on a command line. Only the
    command line passes it, so no other caller can name the unconfined runtime.

    Raises:
        Refused: ``local`` without both of its keys.
        RuntimeUnavailable: a runtime that this version does not have.
        InvalidRequest: a runtime that does not run this language.
    """
    chosen = request.runtime or settings.runtime or RuntimeName.WASM
    if chosen is RuntimeName.AUTO:
        # One isolating runtime exists so far. A language that it lacks is an error, never a
        # reason to take a weaker one.
        chosen = RuntimeName.WASM
    if chosen is RuntimeName.LOCAL:
        by_environment = request.runtime is None or settings.runtime is RuntimeName.LOCAL
        _check_local(settings, chosen_by_owner=owner_typed_runtime or by_environment)
    elif chosen not in LANGUAGES:
        raise RuntimeUnavailable(
            "runtime.not_built",
            f"The runtime {chosen} is not part of this version.",
            "Use --runtime wasm.",
            runtime=str(chosen),
        )
    if request.language not in LANGUAGES[chosen]:
        raise InvalidRequest(
            "request.language_not_in_runtime",
            f"The {chosen} runtime does not run {request.language}.",
            f"It runs {' and '.join(sorted(LANGUAGES[chosen]))}."
            " A shell needs processes, which a WebAssembly sandbox does not have: write the"
            " program in Python instead.",
            runtime=str(chosen),
            language=str(request.language),
        )
    return chosen


def _check_local(settings: RuntimeSettings, *, chosen_by_owner: bool) -> None:
    if not settings.allow_local:
        raise Refused(
            "runtime.local_not_allowed",
            "The local runtime runs code without any protection, and is switched off.",
            "Use --runtime wasm. Only if you wrote the code yourself: set"
            " NOVA_SANDBOX_ALLOW_LOCAL=1 in the terminal you start Nova from.",
        )
    if not chosen_by_owner:
        raise Refused(
            "runtime.local_not_chosen_by_owner",
            "The local runtime can only be chosen by its owner, on the command line or with"
            " NOVA_SANDBOX_RUNTIME=local.",
            "Leave the runtime out of the request.",
        )
