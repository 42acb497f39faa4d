"""The audit record of one request."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, TypeVar

import orjson
from msgspec import Struct

from hydrofoil import engine
from hydrofoil.audit.level import METADATA, RECEIVED, REQUEST, RESPONSE, Chosen
from hydrofoil.errors import ApiError
from hydrofoil.request import ALLOWED, RequestInfo, User, Verdict

LOG = logging.getLogger("hydrofoil")
LONGEST_AGENT = 1024
"""The length of a user agent in characters above which the rest is cut off."""
TYPE = b'{"kind":"Event","apiVersion":"audit.k8s.io/v1",'
"""The beginning of each event; the items of a list are without it."""
MOST_DECISIONS = 256
"""The number of decisions whose JSON is kept."""
DECISION, REASON = "authorization.k8s.io/decision", "authorization.k8s.io/reason"
TRUNCATED = {"audit.k8s.io/truncated": "true"}
CLOSED_EARLY = b'{"metadata":{},"status":"Success","message":"Connection closed early","code":200}'
A_STATUS = b'{"kind":"Status"'
"""The beginning of a Status."""
STATUS = ("status", "message", "reason", "details")
"""The members of a Status that an event repeats."""
TOKENS = (("status", "token"), ("spec", "token"))
"""The places of credentials in TokenRequests and TokenReviews: no level records them."""
T = TypeVar("T")
Encoder = Callable[[engine.AuditRecord, str, int, bytes, bytes, bytes], T]
"""A method that takes a record, the stage, its time, and the members of that stage alone."""
CODES = {code: b'"responseStatus":{"metadata":{},"code":%d},' % code for code in (200, 201, 202, 404, 409)}


def text(value: str) -> bytes:
    """Return a text as JSON; bytes that are no UTF-8 become replacement characters."""
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError:
        return orjson.dumps(value.encode(errors="surrogateescape").decode(errors="replace"))


def user_json(user: User) -> bytes:
    """Return a user as a UserInfo."""
    shown: dict[str, Any] = {"username": user.name, "uid": user.uid, "groups": user.groups, "extra": user.extra}
    shown = {name: dict(value) if name == "extra" else value for name, value in shown.items() if value}
    try:
        return orjson.dumps(shown)
    except orjson.JSONEncodeError:
        return json.dumps(shown).encode()


class Sender(Struct, frozen=True):
    """A user by way of a client: what many requests have in common."""

    user: User | None
    addresses: tuple[str, ...]
    """Those that the requests come by."""
    agent: str
    shown: bytes
    """The user as JSON."""
    members: bytes
    """The others as members of an event."""


def sender_of(user: User | None, addresses: tuple[str, ...], agent: str) -> Sender:
    """Return a sender; `user` is None for an unknown one."""
    shown = b"{}" if user is None else user_json(user)
    try:
        members = engine.audit_sources(addresses, agent)
    except UnicodeEncodeError:
        members = engine.audit_sources(addresses, clean_member(agent))
    return Sender(user, addresses, agent, shown, members)


class AuditEvent(Struct, eq=False):
    """The record of one request, filled on its way (apiserver `pkg/audit/context.go`)."""

    id: str
    chosen: Chosen
    info: RequestInfo
    sender: Sender
    uri: str
    received: int
    """The nanoseconds since 1970 at the arrival."""
    record: engine.AuditRecord
    """The members that the events share."""
    annotations: dict[str, str] | None = None
    verdict: Verdict | None = None
    """The decision of the authorizer (`WithAuthorization`)."""
    impersonated: User | None = None
    """The user that the request acts as."""
    status: bytes | None = None
    """The response status; None as long as there is none."""
    request: bytes | None = None
    """The object that was sent, as JSON."""
    response: bytes | None = None
    fault: bool = False
    """Whether a fault ended the request."""
    acts: bytes = b""
    """Members about the user that the request acts as, each followed by a comma."""

    def annotate(self, key: str, value: str) -> None:
        """Add an annotation; the first value of a key stays."""
        if self.annotations is None:
            self.annotations = {}
        found = self.annotations.setdefault(key, value)
        if found != value:
            LOG.warning("an audit annotation was set twice", extra={"fields": {"auditID": self.id, "key": key}})

    def acts_as(self, user: User, constraint: str) -> None:
        """Record the user that the request acts as, and the limited right by which it does."""
        self.impersonated = user
        self.acts = b'"impersonatedUser":%s,' % user_json(user)
        if constraint:
            self.acts += b'"authenticationMetadata":{"impersonationConstraint":%s},' % text(constraint)

    def sent(self, name: str, namespace: str, uid: str, version: str) -> None:
        """Complete the reference to the object, which the URL may not name, by the metadata of the body."""
        info = self.info
        if not info.resourceful:
            return
        names = info.scope or namespace, info.subject or name
        members = info.resource, *names, info.group, info.version, info.subresource, uid, version
        try:
            self.record = self.record.referring(*members)
        except UnicodeEncodeError:
            self.record = self.record.referring(*map(clean_member, members))

    @property
    def wants_request(self) -> bool:
        """Report whether the object that was sent is recorded."""
        return self.chosen.level >= REQUEST

    @property
    def wants_response(self) -> bool:
        """Report whether the object of the answer is recorded."""
        return self.chosen.level >= RESPONSE

    def requested(self, body: bytes) -> None:
        """Record the object that was sent, as JSON."""
        self.request = self._shown(body)

    def responded(self, body: bytes) -> None:
        """Record the object of the answer, as JSON; of a Status the short form at each level."""
        if body.startswith(A_STATUS):
            self.status = status_json(orjson.loads(body))
        if self.chosen.level >= RESPONSE:
            self.response = self._shown(body)

    def refused(self, error: ApiError) -> None:
        """Record the Status of an error."""
        found = error.status()
        self.status = status_json(found)
        if self.chosen.level >= RESPONSE:
            self.response = orjson.dumps(found)

    def panicked(self, fault: BaseException) -> None:
        """Record that a fault ended the request."""
        self.fault = True
        why = f"APIServer panic'd: {type(fault).__name__}"
        self.status = status_json({"status": "Failure", "message": why, "reason": "InternalError", "code": 500})
        self.response = None

    def _shown(self, body: bytes) -> bytes:
        """Return an object as it is recorded: in one line, without tokens, maybe without managed fields."""
        managed = self.chosen.omits_managed and b'"managedFields"' in body
        secret = self.info.subresource == "token" or self.info.resource == "tokenreviews"
        if not managed and not secret and b"\n" not in body[:-1]:
            return body.rstrip(b"\n")
        try:
            found = orjson.loads(body)
        except orjson.JSONDecodeError:
            # Numbers that only other readers accept.
            found = json.loads(body)
        if managed:
            without_managed(found)
        if secret:
            without_tokens(found)
        return orjson.dumps(found) if not isinstance(found, str) else text(found)

    def encoded(self, stage: str, code: int, at: int, *, truncated: bool = False) -> bytes:
        """Return the event of a stage as one line of JSON, without its end."""
        return self.put(engine.AuditRecord.line, stage, code, at, truncated=truncated)

    def put(self, to: Encoder[T], stage: str, code: int, at: int, *, truncated: bool = False) -> T:
        """Pass the event of a stage to an encoder, and return what it returns.

        `code` is the status of the answer, 0 without one; `at` is in nanoseconds since 1970. `truncated` leaves the
        objects out.
        """
        answer = notes = b""
        if stage is not RECEIVED:
            answer = (CODES.get(code) if self.status is None else None) or self._answer(code)
            if self.chosen.level > METADATA and not truncated:
                answer += self._objects()
        if self.annotations is not None or truncated:
            notes = self._notes(TRUNCATED if truncated else {})
        elif self.verdict is not None:
            notes = ALLOW if self.verdict is ALLOWED else encode_decision(self.verdict)
        return to(self.record, stage, at, self.acts, answer, notes)

    def _answer(self, code: int) -> bytes:
        status = self.status
        if status is None:
            return b'"responseStatus":{"metadata":{},"code":%d},' % code
        if self.fault or not code:
            return b'"responseStatus":%s,' % status
        return b'"responseStatus":%s,"code":%d},' % (status.rpartition(b',"code"')[0], code)

    def _objects(self) -> bytes:
        request, response = self.request, self.response
        made = b'"requestObject":%s,' % request if request is not None else b""
        return made + b'"responseObject":%s,' % response if response is not None else made

    def _notes(self, more: Mapping[str, str]) -> bytes:
        found = dict(self.annotations or {}) | dict(more)
        return encode_annotations(found if self.verdict is None else found | decision(self.verdict))


def decision(verdict: Verdict) -> dict[str, str]:
    """Return the annotations of a decision."""
    found = {REASON: "internal error" if verdict.error and not verdict.allowed else verdict.reason}
    if verdict.allowed or not verdict.error:
        found[DECISION] = "allow" if verdict.allowed else "forbid"
    return found


@lru_cache(MOST_DECISIONS)
def encode_decision(verdict: Verdict) -> bytes:
    """Return the annotations of a decision as JSON; most requests have no others."""
    return encode_annotations(decision(verdict))


def encode_annotations(found: Mapping[str, str]) -> bytes:
    """Return annotations as a member of an event."""
    return b',"annotations":{%s}' % b",".join(b"%s:%s" % (text(k), text(v)) for k, v in sorted(found.items()))


ALLOW = encode_annotations(decision(ALLOWED))
"""The annotations of most requests."""


def begin_event(id: str, chosen: Chosen, info: RequestInfo, sender: Sender, uri: str, received: int) -> AuditEvent:
    """Return the record of a request: what its events share is encoded."""
    made = (
        chosen.level,
        id,
        uri,
        info.verb,
        sender.shown,
        sender.members,
        received,
        info.resource if info.resourceful else None,
        info.namespace or info.scope,
        info.name or info.subject,
        info.group,
        info.version,
        info.subresource,
    )
    try:
        record = engine.audit_record(*made)
    except UnicodeEncodeError:
        record = engine.audit_record(*map(clean_member, made))
    return AuditEvent(id, chosen, info, sender, uri, received, record)


def clean_member(item: Any) -> Any:
    """Return a member of an event; in a text, replacement characters take the place of bytes that are no UTF-8."""
    return item.encode(errors="surrogateescape").decode(errors="replace") if isinstance(item, str) else item


def status_json(found: dict[str, Any]) -> bytes:
    """Return the members of a Status that an event repeats, the code last."""
    kept = {"metadata": {}} | {name: found[name] for name in STATUS if name in found}
    return orjson.dumps(kept | {"code": found.get("code", 0)})


def without_managed(found: Any) -> None:
    """Remove the managed fields of an object, the items of a list or the rows of a Table."""
    if not isinstance(found, dict):
        return
    if isinstance(meta := found.get("metadata"), dict):
        meta.pop("managedFields", None)
    for item in found.get("items") or ():
        without_managed(item)
    if found.get("kind") == "Table":
        for row in found.get("rows") or ():
            without_managed(row.get("object"))


def without_tokens(found: Any) -> None:
    """Remove the credentials in a TokenRequest or TokenReview."""
    for part, name in TOKENS:
        if isinstance(found, dict) and isinstance(inner := found.get(part), dict) and inner.get(name):
            inner[name] = ""
