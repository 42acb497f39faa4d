"""Tokens that a webhook reviews (apiserver `plugin/pkg/authenticator/token/webhook/webhook.go`)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import orjson

from hydrofoil.authentication.cache import MOST, Fetches, digest
from hydrofoil.authentication.login import Login, Rejected
from hydrofoil.clock import Chance, Clock
from hydrofoil.outbound.bounds import decode_json
from hydrofoil.outbound.target import Reply, Reset, Target
from hydrofoil.outbound.trust import Unreachable
from hydrofoil.pool import retrieve_result
from hydrofoil.request import User

GROUP = "authentication.k8s.io"
VERSIONS = ("v1", "v1beta1")
CALL = 30.0
"""The time limit of one call in seconds."""
LARGEST = 1 << 20
"""The greatest size of an answer in bytes."""
STEPS, FIRST, FACTOR, JITTER = 5, 0.5, 1.5, 0.2
"""The attempts, and the pauses between them in seconds (`DefaultAuthWebhookRetryBackoff`)."""
TRANSIENT = ("InternalError", "Timeout", "TooManyRequests")
"""Reasons of failures that another attempt may not have."""
BY_CODE = {429: "TooManyRequests", 500: "InternalError", 504: "Timeout"}
"""The reasons of failures that are no Status."""
CALLS = 256
"""The largest number of calls at a time: tokens of anyone cause them."""
Key = tuple[bytes, tuple[str, ...]]
Object = dict[str, Any]


class _Failed(Exception):
    """A call without an answer; `again` if another attempt may have one."""

    def __init__(self, why: str, *, again: bool) -> None:
        super().__init__(why)
        self.again = again


class TokenWebhook:
    """Ask a webhook about tokens. Answers are kept, errors are not; one call serves all who wait for the same."""

    def __init__(
        self,
        target: Target,
        version: str,
        seconds: float,
        implied: Sequence[str],
        clock: Clock,
        chance: Chance,
        fetches: Fetches | None = None,
    ) -> None:
        """Keep answers for some `seconds`; `implied` are the audiences of this server. Raise ValueError."""
        self._fetches = fetches or Fetches()
        if version not in VERSIONS:
            raise ValueError(
                f'unsupported authentication webhook version "{version}", supported versions are "v1", "v1beta1"'
            )
        self._target = target
        self._version = f"{GROUP}/{version}"
        self._life = int(seconds * 1_000_000_000)
        self._implied = tuple(implied)
        self._clock = clock
        self._chance = chance
        self._kept: dict[Key, tuple[int, Login | None]] = {}
        self._asked: dict[Key, asyncio.Task[Login | None]] = {}
        self._places = asyncio.Semaphore(CALLS)
        """Calls at once: a flood of unknown tokens must not become one of connections."""

    async def authenticate(self, token: str, audiences: Sequence[str]) -> Login | None:
        """Return the login of a token good for one of the audiences; None for one the webhook does not know.

        Raise Rejected.
        """
        key = (digest(token), tuple(audiences))
        kept = self._kept.get(key)
        if kept is not None:
            if self._clock.nanoseconds() < kept[0]:
                self._fetches.hits += 1
                return kept[1]
            del self._kept[key]
        task = self._asked.get(key)
        if task is None:
            task = self._asked[key] = asyncio.create_task(self._review(key, token), name="token review")
            task.add_done_callback(retrieve_result)
        since = self._fetches.wait()
        try:
            # A client that leaves does not end the call for others.
            return await asyncio.shield(task)
        finally:
            self._fetches.end_wait(since)

    async def close(self) -> None:
        """End all calls."""
        for task in list(self._asked.values()):
            task.cancel()
        await self._target.close()

    async def _review(self, key: Key, token: str) -> Login | None:
        failed = True
        self._fetches.fetch()
        try:
            found = self._read(await self._asking(token, key[1]), key[1])
            failed = False
        finally:
            self._fetches.end_fetch(failed=failed)
            del self._asked[key]
        self._keep(key, found)
        return found

    def _keep(self, key: Key, found: Login | None) -> None:
        while len(self._kept) >= MOST:
            # The oldest, as all live equally long.
            del self._kept[next(iter(self._kept))]
        self._kept[key] = (self._clock.nanoseconds() + self._life, found)

    async def _asking(self, token: str, audiences: Sequence[str]) -> Object:
        """Return the status of a review, after several attempts if necessary. Raise Rejected."""
        spec: Object = {"token": token} | ({"audiences": list(audiences)} if audiences else {})
        review = {"kind": "TokenReview", "apiVersion": self._version, "metadata": {}, "spec": spec, "status": {}}
        try:
            body = orjson.dumps(review)
        except TypeError:
            # Bytes that are no UTF-8, which no review can have.
            raise Rejected("invalid bearer token") from None
        pause = FIRST
        for step in range(STEPS):
            try:
                return await self._call(body)
            except _Failed as e:
                if not e.again or step == STEPS - 1:
                    raise Rejected(str(e)) from None
            await self._clock.machine.sleep(pause * self._chance.between(1.0, 1.0 + JITTER))
            pause *= FACTOR
        raise AssertionError("an attempt returns or raises")

    async def _call(self, body: bytes) -> Object:
        try:
            async with self._places:
                reply = await self._target.post(body, CALL, LARGEST)
        except Reset as e:
            raise _Failed(str(e), again=True) from None
        except Unreachable as e:
            raise _Failed(str(e), again=False) from None
        try:
            found = await decode_json(reply.body)
        except orjson.JSONDecodeError:
            found = None
        if not 200 <= reply.status <= 206:
            raise _refusal(reply, found)
        if not isinstance(found, dict):
            raise _Failed("couldn't get version/kind; json parse error", again=False)
        version, kind = found.get("apiVersion"), found.get("kind")
        if version != self._version or kind != "TokenReview":
            raise _Failed(f'no kind "{kind}" is registered for version "{version}"'[:200], again=False)
        status = found.get("status")
        return status if isinstance(status, dict) else {}

    def _read(self, status: Object, wanted: Sequence[str]) -> Login | None:
        """Return the login that an answer means. Raise Rejected."""
        audiences: tuple[str, ...] = ()
        if wanted:
            got = texts(status.get("audiences")) or self._implied
            audiences = tuple(audience for audience in wanted if audience in got)
            if not audiences:
                return None
        if status.get("authenticated") is not True:
            why = status.get("error")
            if isinstance(why, str) and why:
                raise Rejected(why)
            return None
        return Login(_user(status.get("user")), audiences)


def _refusal(reply: Reply, found: Any) -> _Failed:
    """Return the failure of an answer that is no success."""
    status = found if isinstance(found, dict) and found.get("kind") == "Status" else None
    reason = status.get("reason") if status is not None else BY_CODE.get(reply.status)
    message = status.get("message") if status is not None else None
    shown = message if isinstance(message, str) and message else f"an error on the server: status {reply.status}"
    # Only a delay that is a number of seconds counts.
    again = reason in TRANSIENT or (reply.status in (429, 503) and reply.retry_after.isdigit())
    return _Failed(shown, again=again)


def texts(found: Any) -> tuple[str, ...]:
    """Return the texts of a list; empty for anything else."""
    if isinstance(found, list) and all(isinstance(item, str) for item in found):
        return tuple(found)
    return ()


def _user(found: Any) -> User:
    """Return the user of an answer. Raise Rejected for one of another form."""
    if found is None:
        return User("")
    if not isinstance(found, dict):
        raise Rejected("the answer has no user")
    empty: Object = {"username": "", "uid": "", "groups": [], "extra": {}}
    # Go reads a null as an empty value.
    members = (empty[key] if found.get(key) is None else found[key] for key in empty)
    name, uid, groups, extra = members
    valid = isinstance(name, str) and isinstance(uid, str) and isinstance(extra, dict)
    lists = [groups, *(extra.values() if isinstance(extra, dict) else ())]
    if not valid or not all(value is None or isinstance(value, list) for value in lists):
        raise Rejected("the user of the answer has a field of another type")
    if not all(isinstance(item, str) for value in lists for item in value or ()):
        raise Rejected("the user of the answer has a field of another type")
    return User(name, uid, tuple(groups), {key: tuple(values or ()) for key, values in extra.items()})
