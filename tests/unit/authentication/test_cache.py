"""Logins that are kept for a while."""

from __future__ import annotations

from hydrofoil.authentication import cache
from hydrofoil.authentication.cache import key, logins
from hydrofoil.authentication.login import Login
from hydrofoil.clock import Clock
from hydrofoil.request import User


def test_a_login_ends_after_ten_seconds() -> None:
    clock = Clock()
    clock.native.freeze()
    kept, login = logins(clock), Login(User("ann"))
    kept.put(key("t"), login)
    clock.native.advance(9_900_000_000)
    assert kept.get(key("t")) is kept.presented("Bearer t") is login
    assert kept.presented("Basic t") is kept.presented("Bearer \udce9") is None
    clock.native.advance(200_000_000)
    assert kept.presented("Bearer t") is None and len(kept) == 0


def test_a_login_of_a_later_time_is_none_of_an_earlier_one() -> None:
    clock, year = Clock(), 365 * 86_400 * 10**9
    kept, login = logins(clock), Login(User("ann"))
    clock.native.freeze(50 * year)
    kept.put(key("t"), login)
    clock.native.freeze(49 * year)
    assert kept.get(key("t")) is None
    kept.put(key("t"), login)
    assert kept.get(key("t")) is login


def test_the_number_is_bounded() -> None:
    kept, login = logins(Clock()), Login(User("ann"))
    for number in range(cache.MOST + 10):
        kept.put(key(str(number)), login)
        # It is used all the time, and put again whenever it has ended.
        kept.put(key("busy"), login)
    assert len(kept) == cache.MOST
    assert kept.get(key("0")) is None
    assert kept.get(key("busy")) is kept.get(key(str(cache.MOST + 9))) is login
    kept.clear()
    assert len(kept) == 0 and kept.get(key("busy")) is None


def test_tokens_are_not_kept() -> None:
    assert b"secret-token" not in key("secret-token") + key("secret-token", ["vault"])


def test_audiences_are_part_of_the_key() -> None:
    found = [key("t"), key("t", []), key("t", ["vault"]), key("t", ["va", "ult"]), key("t", ["va2:ult"])]
    assert len(set(found)) == len(found)
