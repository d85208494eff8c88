"""A guest's environment is built from nothing and takes no credentials."""

from __future__ import annotations

import pytest

from nova_desktop.model import InvalidRequest, Refused
from nova_desktop.policy import build_guest_env, is_credential_shaped


@pytest.mark.security
def test_nothing_of_our_own_environment_is_inherited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOVA_TEST_MARK", "ours")
    assert build_guest_env({}) == {}
    assert build_guest_env({"MODE": "fast"}) == {"MODE": "fast"}


@pytest.mark.security
@pytest.mark.parametrize(
    "name",
    [
        "API_KEY",
        "STRIPE_KEY",
        "SIGNING_KEY_2",
        "GITHUB_TOKEN",
        "token",
        "DB_PASSWORD",
        "DBPASSWORD",
        "PGPASSWORD",
        "PASSWD",
        "MY_SECRET_THING",
        "CLIENTSECRET",
        "clientSecret",
        "accessToken",
        "AWS_REGION",
        "AWS_ACCESS_KEY_ID",
        "AZURE_CLIENT_ID",
        "GOOGLE_APPLICATION_CREDENTIALS",
        "OPENAI_API_BASE",
        "SSH_AUTH_SOCK",
        "SESSION_ID",
        "HTTP_COOKIE",
        "AUTHORIZATION",
        "NPM_AUTH",
        "apikey",
    ],
)
def test_names_shaped_like_credentials_are_refused(name: str) -> None:
    with pytest.raises(Refused) as caught:
        build_guest_env({name: "x"})
    assert caught.value.code == "policy.credential_in_environment"
    assert caught.value.remedy


@pytest.mark.parametrize(
    "name",
    [
        "HOME",
        "PWD",
        "TZ",
        "LANG",
        "KEY_REPEAT",
        "KEYBOARD",
        "MONKEY",
        "AUTHOR",
        "TOKENIZER_X1",
        "MAX_TOKENS",
    ],
)
def test_harmless_names_pass(name: str) -> None:
    assert not is_credential_shaped(name)


@pytest.mark.parametrize("name", ["", "1A", "A=B", "A B", "Ä", "A\0"])
def test_what_is_no_variable_name_is_an_error(name: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        build_guest_env({name: "x"})
    assert caught.value.code == "request.bad_environment_name"


@pytest.mark.parametrize("value", ["a\0b", "\ud800"])
def test_values_that_no_program_can_receive_are_errors(value: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        build_guest_env({"MODE": value})
    assert caught.value.code == "request.bad_environment_value"
