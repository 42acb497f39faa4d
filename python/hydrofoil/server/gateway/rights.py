"""What the upstream says of callers and their rights: its reviews, kept for a while."""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections import Counter
from collections.abc import Awaitable, Callable
from hashlib import sha256
from typing import Any, Generic, TypeVar

import orjson

from hydrofoil.authorization import reviews
from hydrofoil.clock import Clock, stopwatch
from hydrofoil.pool import retrieve_result
from hydrofoil.request import NO_OPINION, RequestInfo, Rules, User, Verdict
from hydrofoil.server.gateway.client import Upstream
from hydrofoil.storage.upstream.requests import Failed

TOKENS = "/apis/authentication.k8s.io/v1/tokenreviews"
ACCESSES = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
OWN_ACCESSES = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
REVIEW_SECONDS = 5.0
MOST = 8192
"""The greatest number of answers of each kind; the one that was not used for longest is removed first."""
REFUSED = User("")
"""The user of a token that the upstream does not accept."""
T = TypeVar("T")


class Unreviewed(Exception):
    """The upstream has not answered a review."""


class Answers(Generic[T]):
    """Answers to one kind of question, each asked once for all who wait, and kept for a while.

    While the upstream is away they hold without an end: who was known stays known.
    """

    def __init__(self, seconds: float, is_away: Callable[[], bool]) -> None:
        self._seconds = seconds
        self._is_away = is_away
        self._kept: dict[bytes, tuple[float, T]] = {}
        """In the order of their use; the time is that of the end."""
        self._asked: dict[bytes, asyncio.Task[T]] = {}
        self.hits = 0

    def get(self, key: bytes) -> T | None:
        """Return an answer that still holds."""
        found = self._kept.pop(key, None)
        if found is None:
            return None
        self._kept[key] = found
        if found[0] <= stopwatch() and not self._is_away():
            return None
        self.hits += 1
        return found[1]

    async def ask(self, key: bytes, question: Callable[[], Awaitable[T]]) -> T:
        """Return the answer to a question that is not kept. Raise Unreviewed."""
        if self._is_away():
            raise Unreviewed
        task = self._asked.get(key)
        if task is None:
            task = self._asked[key] = asyncio.create_task(self._ask(key, question), name="review")
            task.add_done_callback(retrieve_result)
        return await asyncio.shield(task)

    async def _ask(self, key: bytes, question: Callable[[], Awaitable[T]]) -> T:
        began = stopwatch()
        try:
            found = await question()
        finally:
            del self._asked[key]
        while len(self._kept) >= MOST:
            del self._kept[next(iter(self._kept))]
        # What changes during a question may not be in its answer.
        self._kept[key] = (began + self._seconds, found)
        return found


class Rights:
    """The reviews of the upstream. As an authorizer it decides on users; nobody is allowed what was not reviewed."""

    def __init__(self, upstream: Upstream, clock: Clock, seconds: float) -> None:
        self._upstream = upstream
        self._clock = clock
        contact = upstream.contact
        self._users: Answers[User] = Answers(seconds, lambda: contact.away)
        self._verdicts: Answers[Verdict] = Answers(seconds, lambda: contact.away)
        self.counts: Counter[tuple[str, str]] = Counter()
        """The reviews by kind and result."""

    @property
    def hits(self) -> int:
        """Return the number of answers that were kept."""
        return self._users.hits + self._verdicts.hits

    async def login(self, token: str) -> User | None:
        """Return the user of a bearer token; None for one that the upstream does not accept. Raise Unreviewed."""
        if has_expired(token, self._clock.seconds()):
            return None
        key = sha256(token.encode(errors="surrogateescape")).digest()
        found = self._users.get(key)
        if found is None:
            found = await self._users.ask(key, lambda: self._review_token(token))
        return None if found is REFUSED else found

    async def _review_token(self, token: str) -> User:
        body = {"kind": "TokenReview", "apiVersion": "authentication.k8s.io/v1", "spec": {"token": token}}
        status = await self._review("token", TOKENS, reviews.encode_json(body))
        user = user_of(status.get("user"))
        if status.get("authenticated") is not True or not user.name:
            self.counts["token", "refused"] += 1
            return REFUSED
        self.counts["token", "allowed"] += 1
        return user

    def authorize(self, user: User, info: RequestInfo) -> Verdict | Awaitable[Verdict]:
        """Return the decision on a request of a user."""
        spec = reviews.spec(user, info)
        key = reviews.key_of(spec)
        found = self._verdicts.get(key)
        return self._authorize(key, reviews.body(spec, "v1")) if found is None else found

    async def _authorize(self, key: bytes, body: bytes) -> Verdict:
        try:
            return await self._verdicts.ask(key, lambda: self._review_access(ACCESSES, body))
        except Unreviewed as e:
            return Verdict(error=str(e))

    async def allows_anybody(self, info: RequestInfo) -> bool:
        """Report whether the upstream allows a request without credentials."""
        spec = reviews.spec(User(""), info)
        key = b"nobody" + reviews.key_of(spec)
        found = self._verdicts.get(key)
        if found is None:
            review = {"kind": "SelfSubjectAccessReview", "apiVersion": "authorization.k8s.io/v1", "spec": spec}
            body = reviews.encode_json(review)
            try:
                found = await self._verdicts.ask(key, lambda: self._review_access(OWN_ACCESSES, body, {}))
            except Unreviewed:
                return False
        return found.allowed

    async def _review_access(self, path: str, body: bytes, headers: dict[str, str] | None = None) -> Verdict:
        status = await self._review("access", path, body, headers)
        allowed = status.get("allowed") is True
        self.counts["access", "allowed" if allowed else "refused"] += 1
        reason = status.get("reason")
        return Verdict(allowed, status.get("denied") is True, reason if isinstance(reason, str) else "")

    async def _review(self, kind: str, path: str, body: bytes, headers: dict[str, str] | None = None) -> dict[str, Any]:
        """Return the status of a review. Raise Unreviewed."""
        try:
            answer = await self._upstream.post(path, REVIEW_SECONDS, body, headers)
            if headers is not None and answer.status in (401, 403):
                # Without credentials nobody may even ask.
                return {}
            if answer.status not in (200, 201):
                raise Failed(f"the upstream answers {answer.status} to a review")
            status = orjson.loads(answer.body).get("status")
        except (Failed, orjson.JSONDecodeError, AttributeError) as e:
            self.counts[kind, "failed"] += 1
            raise Unreviewed(str(e)) from None
        return status if isinstance(status, dict) else {}

    def standing(self, user: User, info: RequestInfo) -> None:
        """Return None: another process decides."""

    def rules(self, user: User, namespace: str) -> Rules:
        """Return no rules: reviews do not list them."""
        return Rules(incomplete=True)


class NoRights:
    """Allow nobody anything: what a gateway decides without the upstream."""

    def authorize(self, user: User, info: RequestInfo) -> Verdict:
        """Return the same for every request."""
        return NO_OPINION

    def standing(self, user: User, info: RequestInfo) -> None:
        """Return None: nothing is allowed."""

    def rules(self, user: User, namespace: str) -> Rules:
        """Return no rules."""
        return Rules(incomplete=True)


def has_expired(token: str, now: float) -> bool:
    """Report whether a token says itself that its time is over: it is not good however long its review is kept."""
    parts = token.split(".")
    if len(parts) != 3:
        return False
    try:
        claims = orjson.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except (binascii.Error, ValueError):
        return False
    end = claims.get("exp") if isinstance(claims, dict) else None
    return isinstance(end, int | float) and end <= now


def user_of(found: Any) -> User:
    """Return the user of a TokenReview."""
    given = found if isinstance(found, dict) else {}
    extra = given.get("extra")
    return User(
        _text(given.get("username")),
        _text(given.get("uid")),
        _texts(given.get("groups")),
        {str(key): _texts(values) for key, values in extra.items()} if isinstance(extra, dict) else {},
    )


def _text(found: Any) -> str:
    return found if isinstance(found, str) else ""


def _texts(found: Any) -> tuple[str, ...]:
    return tuple(item for item in found if isinstance(item, str)) if isinstance(found, list) else ()
