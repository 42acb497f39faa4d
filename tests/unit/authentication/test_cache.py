"""Logins that are kept for a while."""

from __future__ import annotations

from hydrofoil.authentication import cache
from hydrofoil.authentication.cache import Logins, digest
from hydrofoil.authentication.login import Login
from hydrofoil.clock import Clock
from hydrofoil.request import User


class Set(Clock):
    """A clock that a test moves."""

    moment = 1_000_000_000.0

    def nanoseconds(self) -> int:
        return int(self.moment * 1e9)


def test_a_login_ends_after_ten_seconds() -> None:
    clock = Set()
    logins, login, key = Logins(clock), Login(User("ann")), (digest("t"), None)
    logins.put(key, login)
    clock.moment += 9.9
    assert logins.get(key) is login
    clock.moment += 0.2
    assert logins.get(key) is None


def test_the_number_is_bounded() -> None:
    logins = Logins(Set())
    for number in range(cache.MOST + 10):
        logins.put((digest(str(number)), None), Login(User("ann")))
    assert len(logins._kept) == cache.MOST
    assert logins.get((digest("0"), None)) is None
    assert logins.get((digest(str(cache.MOST + 9)), None)) is not None


def test_tokens_are_not_kept() -> None:
    logins = Logins(Set())
    logins.put((digest("secret-token"), None), Login(User("ann")))
    assert "secret-token" not in repr(logins._kept)


def test_audiences_are_part_of_the_key() -> None:
    logins = Logins(Set())
    logins.put((digest("t"), ("vault",)), Login(User("ann")))
    assert logins.get((digest("t"), None)) is None
