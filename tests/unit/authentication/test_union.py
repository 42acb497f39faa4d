"""Authenticators of tokens, one after the other (apiserver `token/union`, `token/cache`)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from hydrofoil.authentication.cache import Fetches
from hydrofoil.authentication.login import Login, Rejected
from hydrofoil.authentication.union import KEPT_AUDIENCES, Known, Tokens, add_group
from hydrofoil.clock import Clock
from hydrofoil.request import ANONYMOUS, User


class One:
    """An authenticator that accepts one token, and refuses those that begin with `bad`."""

    def __init__(self, name: str, *audiences: str) -> None:
        self._name = name
        self._audiences = audiences
        self.calls = 0

    async def authenticate(self, token: str, audiences: Sequence[str]) -> Login | None:
        self.calls += 1
        if token.startswith("bad"):
            raise Rejected(f"{self._name} refuses")
        return Login(User(self._name), self._audiences) if token == self._name else None


def union(*known: Known) -> Tokens:
    tokens = Tokens(Clock())
    tokens.audiences = ("api", "old")
    tokens.known += known
    return tokens


async def test_a_refusal_does_not_end_the_search() -> None:
    class Refuses(One):
        async def authenticate(self, token: str, audiences: Sequence[str]) -> Login | None:
            raise Rejected("first")

    tokens = union(Known(Refuses("x")), Known(One("ann")))
    assert (await tokens.authenticate("ann")).user == User("ann", groups=("system:authenticated",))


async def test_all_reasons_are_one_text() -> None:
    with pytest.raises(Rejected, match=r"^\[invalid bearer token, a refuses, b refuses\]$"):
        await union(Known(One("a")), Known(One("b"))).authenticate("bad")
    with pytest.raises(Rejected, match=r"^invalid bearer token$"):
        await union(Known(One("a"))).authenticate("other")


async def test_a_login_is_kept_and_a_refusal_is_not() -> None:
    one = One("ann")
    tokens = union(Known(one))
    for _ in range(3):
        await tokens.authenticate("ann")
    assert one.calls == 1
    assert tokens.kept("ann") is not None
    for _ in range(3):
        with pytest.raises(Rejected):
            await tokens.authenticate("bad")
    assert one.calls == 4
    assert tokens.kept("bad") is None


async def test_audiences_of_tokens_without_their_own() -> None:
    tokens = union(Known(One("ann")))
    assert (await tokens.authenticate("ann", ("x", "old", "api"))).audiences == ("old", "api")
    with pytest.raises(Rejected):
        await tokens.authenticate("ann", ("x",))


async def test_a_login_for_others_is_none_for_this_server() -> None:
    """A review does not let a token in that is good elsewhere."""
    tokens = union(Known(One("ann", "vault"), agnostic=False))
    await tokens.authenticate("ann", ("vault",))
    assert tokens.kept("ann") is None


async def test_what_is_kept_of_a_review_is_small() -> None:
    one = One("ann", "vault")
    tokens = union(Known(one, agnostic=False))
    for _ in range(2):
        await tokens.authenticate("ann", ("vault", "x" * KEPT_AUDIENCES))
    assert one.calls == 2


@pytest.mark.parametrize("token", ["ann\udcff", "\udc80", "x" * 600_000])
async def test_other_bytes_and_huge_texts_reach_no_authenticator(token: str) -> None:
    one = One("ann")
    with pytest.raises(Rejected):
        await union(Known(one)).authenticate(token)
    assert one.calls == 0


def test_the_group_of_all_users_is_added_once() -> None:
    assert add_group(User("ann", groups=("a",))).groups == ("a", "system:authenticated")
    for user in (User("ann", groups=("system:authenticated", "a")), ANONYMOUS, User("system:anonymous")):
        assert add_group(user) is user


async def test_requests_for_logins_are_counted() -> None:
    """`token/cache/stats.go`: an unknown token is not an error, a refused one is."""
    tokens = union(Known(One("ann")))
    for _ in range(3):
        await tokens.authenticate("ann")
    for unknown in ("x", "bad"):
        with pytest.raises(Rejected):
            await tokens.authenticate(unknown)
    assert tokens.presented("Bearer ann") is not None
    tokens.forget()
    assert tokens.presented("Bearer ann") is None
    counts = tokens.present_fetches()
    assert (counts.hits, sum(counts.missed.counts)) == (3, 3)
    assert (counts.found, counts.failed, counts.under_way, counts.blocked) == (2, 1, 0, 0)


async def test_fetches_under_way_are_counted() -> None:
    class Waits(One):
        async def authenticate(self, token: str, audiences: Sequence[str]) -> Login | None:
            seen.append(tokens.present_fetches())
            return await super().authenticate(token, audiences)

    seen: list[Fetches] = []
    tokens = union(Known(Waits("ann")))
    await tokens.authenticate("ann")
    assert (seen[0].under_way, seen[0].blocked, seen[0].found) == (1, 1, 0)
