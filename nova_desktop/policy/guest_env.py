"""The environment of a guest: built from nothing, never copied from ours.

A secret that a guest can read is a secret that it can print. Names that look like credentials
are refused, so that one cannot be passed by habit or by accident.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from nova_desktop.model import InvalidRequest, Refused

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")

_CREDENTIAL_WORDS = frozenset(
    [
        "apikey",
        "auth",
        "authorization",
        "cookie",
        "cred",
        "creds",
        "credential",
        "credentials",
        "jwt",
        "kubeconfig",
        "netrc",
        "passphrase",
        "passwd",
        "password",
        "pat",
        "privatekey",
        "pw",
        "pwd",
        "secret",
        "secrets",
        "session",
        "sessionid",
        "token",
    ]
)
"""A name is refused when one of its words (split at ``_`` and at camel-case humps) is here."""

_CREDENTIAL_PIECES = ("apikey", "password", "passwd", "secret", "credential", "accesskey")
"""... or when these stand anywhere in it, for names written without separators."""

_CREDENTIAL_PREFIXES = ("aws_", "azure_", "gcp_", "google_", "openai_", "anthropic_", "ssh_")
"""... or when it belongs to a family that is used for nothing but access to an account."""

_NOT_CREDENTIALS = frozenset({"PWD", "OLDPWD"})
"""The shell's working directory, which only looks like a password."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def is_credential_shaped(name: str) -> bool:
    """Whether a variable's name suggests that its value gives access to something."""
    if name in _NOT_CREDENTIALS:
        return False
    lowered = name.lower()
    squeezed = lowered.replace("_", "")
    if lowered.startswith(_CREDENTIAL_PREFIXES):
        return True
    if any(piece in squeezed for piece in _CREDENTIAL_PIECES):
        return True
    words = [word.lower() for word in _WORD.findall(name)]
    # "KEY" at the end is an access key (STRIPE_KEY, SIGNING_KEY_2); elsewhere it may be a
    # keyboard (KEY_REPEAT).
    meaningful = [word for word in words if not word.isdigit()]
    if meaningful and meaningful[-1] in {"key", "keys"}:
        return True
    return not _CREDENTIAL_WORDS.isdisjoint(words)


def build_guest_env(names: Mapping[str, str]) -> dict[str, str]:
    """Exactly these variables, checked; nothing is inherited from our own environment.

    Raises:
        Refused: a name is shaped like a credential's.
        InvalidRequest: a name is not one, or a value holds a NUL or is not valid Unicode.
    """
    environment: dict[str, str] = {}
    for name, value in names.items():
        if not _NAME.match(name):
            raise InvalidRequest(
                "request.bad_environment_name",
                f"{name!r} cannot be the name of an environment variable.",
                "Use letters, digits and underscores; the first is not a digit.",
            )
        if is_credential_shaped(name):
            raise Refused(
                "policy.credential_in_environment",
                f"The variable {name} looks like a credential, and a program could print it.",
                "Leave it out; let the program ask for the result it needs, not for the key.",
                variable=name,
            )
        if "\0" in value:
            raise InvalidRequest(
                "request.bad_environment_value",
                f"The value of {name} contains a NUL character.",
                "Remove it: no program can receive it in an environment variable.",
                variable=name,
            )
        try:
            value.encode()
        except UnicodeEncodeError:
            raise InvalidRequest(
                "request.bad_environment_value",
                f"The value of {name} is not valid Unicode.",
                "Pass text, or put the bytes in a file.",
                variable=name,
            ) from None
        environment[name] = value
    return environment
