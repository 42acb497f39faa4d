"""Logins that are kept for a while."""

from __future__ import annotations

from hydrofoil.authentication import cache
from hydrofoil.authentication.cache import Logins, digest
from hydrofoil.authentication.login import Login
from hydrofoil.clock import Clock
from hydrofoil.request import User


def test_a_login_ends_after_ten_seconds() -> None:
    clock = Clock()
    clock.native.freeze()
    logins, login, key = Logins(clock), Login(User("ann")), (digest("t"), None)
    logins.put(key, login)
    clock.native.advance(9_900_000_000)
    assert logins.get(key) is logins.presented("Bearer t") is login
    assert logins.presented("Basic t") is logins.presented("Bearer \udce9") is None
    clock.native.advance(200_000_000)
    assert logins.get(key) is None


def test_the_number_is_bounded() -> None:
    logins = Logins(Clock())
    for number in range(cache.MOST + 10):
        logins.put((digest(str(number)), None), Login(User("ann")))
    assert len(logins._kept) == cache.MOST
    assert logins.get((digest("0"), None)) is None
    assert logins.get((digest(str(cache.MOST + 9)), None)) is not None


def test_tokens_are_not_kept() -> None:
    logins = Logins(Clock())
    logins.put((digest("secret-token"), None), Login(User("ann")))
    assert "secret-token" not in repr(logins._kept)


def test_audiences_are_part_of_the_key() -> None:
    logins = Logins(Clock())
    logins.put((digest("t"), ("vault",)), Login(User("ann")))
    assert logins.get((digest("t"), None)) is None
