"""The webhook of tokens (apiserver `plugin/pkg/authenticator/token/webhook`, and recordings of it)."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
import pytest

from hydrofoil.authentication.cache import Fetches
from hydrofoil.authentication.login import Login, Rejected
from hydrofoil.authentication.webhook import BACKOFF, CALLS, TokenWebhook
from hydrofoil.clock import Chance
from hydrofoil.outbound.target import Reply, Reset, Target
from hydrofoil.outbound.trust import Trust, Unreachable
from hydrofoil.request import User
from tests.issuers import Frozen

KNOWN = {"authenticated": True, "user": {"username": "w", "uid": "u", "groups": ["g"], "extra": {"K": ["v"]}}}
USER = User("w", "u", ("g",), {"K": ("v",)})


class Hook(Target):
    """Answers one after the other, the last one again."""

    def __init__(self, *answers: Any, version: str = "v1") -> None:
        super().__init__("https://hook", Trust())
        self._answers = list(answers)
        self._version = version
        self.reviews: list[Any] = []

    async def post(self, body: bytes, seconds: float, bound: int) -> Reply:
        self.reviews.append(orjson.loads(body))
        await asyncio.sleep(0)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, Reply):
            return answer
        version = f"authentication.k8s.io/{self._version}"
        return Reply(200, orjson.dumps({"apiVersion": version, "kind": "TokenReview", "status": answer}))


def webhook(hook: Hook, seconds: float = 120.0, version: str = "v1") -> tuple[TokenWebhook, Frozen]:
    clock = Frozen()
    return TokenWebhook(hook, version, seconds, ("own",), clock, Chance(1)), clock


async def refused(made: TokenWebhook, token: str = "t") -> str:
    with pytest.raises(Rejected) as found:
        await made.authenticate(token, ("own",))
    assert token not in str(found.value) or len(token) < 3
    return str(found.value)


async def test_a_review() -> None:
    hook = Hook(KNOWN)
    made, _ = webhook(hook)
    assert await made.authenticate("secret", ("own",)) == Login(USER, ("own",))
    assert hook.reviews[0]["apiVersion"] == "authentication.k8s.io/v1"
    assert hook.reviews[0]["spec"] == {"token": "secret", "audiences": ["own"]}
    assert "secret" not in repr(made.__dict__)


async def test_the_older_version() -> None:
    hook = Hook(KNOWN, version="v1beta1")
    made, _ = webhook(hook, version="v1beta1")
    assert await made.authenticate("t", ()) == Login(USER)
    assert hook.reviews[0]["apiVersion"] == "authentication.k8s.io/v1beta1"
    assert "audiences" not in hook.reviews[0]["spec"]
    with pytest.raises(ValueError, match="unsupported authentication webhook version"):
        webhook(hook, version="v2")


@pytest.mark.parametrize(
    ("status", "wanted", "audiences"),
    [
        (KNOWN, ("own", "x"), ("own",)),
        (KNOWN, ("x",), None),
        (KNOWN | {"audiences": ["x"]}, ("own", "x"), ("x",)),
        (KNOWN | {"audiences": ["y"]}, ("own", "x"), None),
        (KNOWN | {"audiences": ["y"], "error": "e"}, ("own",), None),
        (KNOWN | {"error": "e"}, ("own",), ("own",)),
        (KNOWN | {"authenticated": "yes"}, ("own",), None),
        (KNOWN | {"authenticated": 1}, ("own",), None),
        ({"authenticated": False}, ("own",), None),
        ({}, ("own",), None),
    ],
)
async def test_audiences(status: Any, wanted: tuple[str, ...], audiences: tuple[str, ...] | None) -> None:
    made, _ = webhook(Hook(status))
    found = await made.authenticate("t", wanted)
    assert found == (None if audiences is None else Login(USER, audiences))


async def test_a_refusal_with_a_reason() -> None:
    made, _ = webhook(Hook({"authenticated": False, "error": "this token was revoked"}))
    assert await refused(made) == "this token was revoked"


async def test_answers_are_kept_and_errors_are_not() -> None:
    hook = Hook(KNOWN)
    made, clock = webhook(hook, 3.0)
    for _ in range(3):
        await made.authenticate("t", ("own",))
    assert len(hook.reviews) == 1
    await made.authenticate("other", ("own",))
    await made.authenticate("t", ("own", "x"))
    assert len(hook.reviews) == 3
    clock.at += 3
    await made.authenticate("t", ("own",))
    assert len(hook.reviews) == 4
    hook = Hook({"authenticated": False, "error": "e"})
    made, _ = webhook(hook)
    for _ in range(3):
        await refused(made)
    assert len(hook.reviews) == 3
    hook = Hook({"authenticated": False})
    made, _ = webhook(hook)
    for _ in range(3):
        assert await made.authenticate("t", ("own",)) is None
    assert len(hook.reviews) == 1


async def test_a_cache_of_no_time_keeps_nothing() -> None:
    hook = Hook(KNOWN)
    made, _ = webhook(hook, 0.0)
    for _ in range(2):
        await made.authenticate("t", ("own",))
    assert len(hook.reviews) == 2


async def test_one_call_for_all_who_wait_for_the_same() -> None:
    hook = Hook(KNOWN)
    made, _ = webhook(hook)
    found = await asyncio.gather(*(made.authenticate("t", ("own",)) for _ in range(50)))
    assert found == [Login(USER, ("own",))] * 50
    assert len(hook.reviews) == 1


async def test_a_client_that_leaves_does_not_end_the_call_of_others() -> None:
    hook = Hook(KNOWN)
    made, _ = webhook(hook)
    first = asyncio.ensure_future(made.authenticate("t", ("own",)))
    second = asyncio.ensure_future(made.authenticate("t", ("own",)))
    await asyncio.sleep(0)
    first.cancel()
    assert await second == Login(USER, ("own",))


@pytest.mark.parametrize(
    ("answer", "calls"),
    [
        (Reset("EOF"), BACKOFF.steps),
        (Unreachable("connection refused"), 1),
        (Reply(500, b"oops"), BACKOFF.steps),
        (Reply(500, b'{"kind":"Status","message":"the directory is down"}'), 1),
        (Reply(500, b'{"kind":"Status","reason":"InternalError"}'), BACKOFF.steps),
        (Reply(504, b""), BACKOFF.steps),
        (Reply(429, b""), BACKOFF.steps),
        (Reply(503, b"", retry_after="1"), BACKOFF.steps),
        (Reply(503, b""), 1),
        (Reply(302, b""), 1),
        (Reply(401, b"{}"), 1),
        (Reply(200, b"not JSON"), 1),
        (Reply(200, b"[]"), 1),
        (
            Reply(
                200, b'{"apiVersion":"authentication.k8s.io/v7","kind":"TokenReview","status":{"authenticated":true}}'
            ),
            1,
        ),
        (Reply(200, b'{"apiVersion":"authentication.k8s.io/v1","kind":"Pod","status":{"authenticated":true}}'), 1),
    ],
)
async def test_failures(answer: Any, calls: int) -> None:
    hook = Hook(answer)
    made, clock = webhook(hook)
    assert await refused(made)
    assert len(hook.reviews) == calls
    assert len(clock.slept) == calls - 1
    assert all(0.5 * 1.5**i <= pause <= 0.6 * 1.5**i for i, pause in enumerate(clock.slept))


async def test_a_later_attempt_succeeds() -> None:
    made, _ = webhook(Hook(Reset("EOF"), Reply(500, b""), KNOWN))
    assert await made.authenticate("t", ("own",)) == Login(USER, ("own",))


@pytest.mark.parametrize(
    "user",
    [[], "w", 7, {"username": 7}, {"groups": "g"}, {"groups": [1]}, {"extra": []}, {"extra": {"k": "v"}}, {"uid": {}}],
)
async def test_users_of_another_form(user: Any) -> None:
    made, _ = webhook(Hook({"authenticated": True, "user": user}))
    assert "user" in await refused(made)


async def test_users_may_have_no_name() -> None:
    made, _ = webhook(Hook({"authenticated": True, "user": {"username": None, "groups": None, "extra": {"k": None}}}))
    assert await made.authenticate("t", ()) == Login(User("", extra={"k": ()}))


async def test_bytes_that_are_no_text() -> None:
    made, _ = webhook(Hook(KNOWN))
    assert await refused(made, "\udcff\udcfe\udcff") == "invalid bearer token"


async def test_tokens_of_anyone_cause_a_bounded_number_of_calls() -> None:
    class Slow(Hook):
        """Counts the calls at a time."""

        now = most = 0

        async def post(self, body: bytes, seconds: float, bound: int) -> Reply:
            self.now += 1
            self.most = max(self.most, self.now)
            for _ in range(3):
                await asyncio.sleep(0)
            self.now -= 1
            return await super().post(body, seconds, bound)

    hook = Slow(KNOWN)
    made, _ = webhook(hook)
    await asyncio.gather(*(made.authenticate(f"t{i}", ()) for i in range(CALLS + 50)))
    assert hook.most == CALLS
    assert len(hook.reviews) == CALLS + 50


async def test_answers_are_counted() -> None:
    """One call serves all who wait for it, and a failed one is an error (`token/cache/stats.go`)."""
    fetches = Fetches()
    hook = Hook(KNOWN, Unreachable("down"))
    made = TokenWebhook(hook, "v1", 120.0, ("own",), Frozen(), Chance(1), fetches)
    await asyncio.gather(*(made.authenticate("t", ("own",)) for _ in range(3)))
    await made.authenticate("t", ("own",))
    await refused(made, "other")
    assert (fetches.hits, sum(fetches.missed.counts), fetches.found, fetches.failed) == (1, 4, 1, 1)
    assert (fetches.under_way, fetches.blocked) == (0, 0)
