"""Tokens that a webhook reviews (apiserver `plugin/pkg/authenticator/token/webhook/webhook.go`)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import orjson

from hydrofoil.authentication.cache import MOST, Fetches, digest
from hydrofoil.authentication.login import Login, Rejected
from hydrofoil.clock import Chance, Clock
from hydrofoil.outbound.review import AUTHENTICATION, Backoff, Review, ReviewFailed
from hydrofoil.outbound.target import Target
from hydrofoil.pool import retrieve_result
from hydrofoil.request import User

GROUP = "authentication.k8s.io"
VERSIONS = ("v1", "v1beta1")
CALL = 30.0
"""The time limit of one call in seconds."""
LARGEST = 1 << 20
"""The greatest size of an answer in bytes."""
BACKOFF = Backoff(jitter=0.2)
"""The attempts (`DefaultAuthWebhookRetryBackoff`)."""
CALLS = 256
"""The largest number of calls at a time: tokens of anyone cause them."""
Key = tuple[bytes, tuple[str, ...]]
Object = dict[str, Any]


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
        self._reviews = Review(target, AUTHENTICATION, CALL, LARGEST)
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
        await self._reviews.close()

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
        for pause in BACKOFF.pauses():
            try:
                return await self._call(body)
            except ReviewFailed as e:
                if not e.again or pause is None:
                    raise Rejected(str(e)) from None
            await self._clock.machine.sleep(BACKOFF.stretch(pause, self._chance))
        raise AssertionError("an attempt returns or raises")

    async def _call(self, body: bytes) -> Object:
        async with self._places:
            found = await self._reviews.post(body)
        if not isinstance(found, dict):
            raise ReviewFailed("couldn't get version/kind; json parse error")
        version, kind = found.get("apiVersion"), found.get("kind")
        if version != self._version or kind != "TokenReview":
            raise ReviewFailed(f'no kind "{kind}" is registered for version "{version}"'[:200])
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
