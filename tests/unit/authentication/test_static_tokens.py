"""Tokens in a file (apiserver `token/tokenfile/tokenfile_test.go`)."""

from __future__ import annotations

import logging

import pytest

from hydrofoil.authentication.static_tokens import StaticTokens, users
from hydrofoil.request import User


async def test_users_and_groups() -> None:
    tokens = StaticTokens(users('t1,ann,u1,"a,b"\nt2, bob ,,\n', "f"))
    first, second = await tokens.authenticate("t1", ()), await tokens.authenticate("t2", ())
    assert first is not None
    assert first.user == User("ann", "u1", ("a", "b"))
    assert second is not None
    assert second.user == User(" bob ")
    for other in ("T1", "t", "t1 ", "", "t1\n"):
        assert await tokens.authenticate(other, ()) is None


def test_a_line_needs_three_columns() -> None:
    with pytest.raises(ValueError, match="at least 3 columns"):
        users("t1,ann\n", "f")


async def test_an_empty_token_is_none_and_the_last_of_two_counts(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "hydrofoil"):
        tokens = StaticTokens(users("secret,ann,1\n,nobody,2\nsecret,bob,3\n", "f"))
    assert await tokens.authenticate("", ()) is None
    found = await tokens.authenticate("secret", ())
    assert found is not None
    assert found.user.name == "bob"
    assert "empty token" in caplog.text
    assert "duplicate token" in caplog.text
    assert "secret" not in caplog.text
