"""The audit record of one request."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import orjson

from hydrofoil.audit.level import LEVELS, METADATA, RECEIVED, REQUEST, RESPONSE, STAGES, Chosen
from hydrofoil.errors import ApiError
from hydrofoil.request import RequestInfo, User, Verdict

LOG = logging.getLogger("hydrofoil")
LONGEST_AGENT = 1024
"""The length of a user agent in characters above which the rest is cut off."""
BREAKS = ((b"\xe2\x80\xa8", b"\\u2028"), (b"\xe2\x80\xa9", b"\\u2029"), (b"\xc2\x85", b"\\u0085"))
"""Line breaks that JSON allows in texts: an event stays one line for every reader."""
TYPE = b'{"kind":"Event","apiVersion":"audit.k8s.io/v1",'
"""The begin of each event; the items of a list are without it."""
ALLOW = b',"annotations":{"authorization.k8s.io/decision":"allow","authorization.k8s.io/reason":""}'
DECISION, REASON = "authorization.k8s.io/decision", "authorization.k8s.io/reason"
TRUNCATED = {"audit.k8s.io/truncated": "true"}
CLOSED_EARLY = b'{"metadata":{},"status":"Success","message":"Connection closed early","code":200}'
STATUS = ("status", "message", "reason", "details")
"""The members of a Status that an event repeats."""
TOKENS = (("status", "token"), ("spec", "token"))
"""The places of credentials in TokenRequests and TokenReviews: no level records them."""


LEVEL_TEXTS = tuple(b'%s"level":"%s"' % (TYPE, level.encode()) for level in LEVELS)
STAGE_TEXTS = {stage: stage.encode() for stage in STAGES}
VERBS = {verb: verb.encode() for verb in ("get", "list", "watch", "create", "update", "patch", "delete", "post", "put")}
CODES = {code: b'"responseStatus":{"metadata":{},"code":%d},' % code for code in (200, 201, 202, 404, 409)}
RECEIVED_AT, STAGE_AT = b'"requestReceivedTimestamp":"', b'","stageTimestamp":"'
"""Texts that most events have."""


@lru_cache(maxsize=4096)
def kind_json(group: str, version: str, resource: str, subresource: str, namespace: str) -> bytes:
    """Return the members of an object's reference that many requests share."""
    members = (
        ("resource", resource),
        ("namespace", namespace),
        ("apiGroup", group),
        ("apiVersion", version),
        ("subresource", subresource),
    )
    return b",".join(b'"%s":%s' % (key.encode(), text(value)) for key, value in members if value)


def object_json(info: RequestInfo, given: Mapping[str, str] | None) -> bytes:
    """Return the reference to the object of a request; `given` are members that the body adds."""
    name, scope = info.subject, info.scope
    if not given:
        shared = kind_json(info.group, info.version, info.resource, info.subresource, scope)
        return b'"objectRef":{%s,"name":%s},' % (shared, text(name)) if name else b'"objectRef":{%s},' % shared
    scope = scope or given.get("namespace", "")
    made = [kind_json(info.group, info.version, info.resource, info.subresource, scope)]
    if name := name or given.get("name", ""):
        made.append(b'"name":%s' % text(name))
    for key in ("uid", "resourceVersion"):
        if value := given.get(key):
            made.append(b'"%s":%s' % (key.encode(), text(value)))
    return b'"objectRef":{%s},' % b",".join(made)


def text(value: str) -> bytes:
    """Return a text as JSON; bytes that are no UTF-8 become replacement characters."""
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError:
        return orjson.dumps(value.encode(errors="surrogateescape").decode(errors="replace"))


def verb_text(verb: str) -> bytes:
    """Return a verb as it is inside of quotes: methods are whatever clients send."""
    return verb.encode() if verb.isalpha() and verb.isascii() else text(verb)[1:-1]


def user_json(user: User) -> bytes:
    """Return a user as a UserInfo."""
    shown: dict[str, Any] = {"username": user.name, "uid": user.uid, "groups": user.groups, "extra": user.extra}
    shown = {name: dict(value) if name == "extra" else value for name, value in shown.items() if value}
    try:
        return orjson.dumps(shown)
    except orjson.JSONEncodeError:
        return json.dumps(shown).encode()


def one_line(line: bytes) -> bytes:
    """Return JSON without the line breaks that it may have in texts."""
    for broken, escaped in BREAKS:
        if broken in line:
            line = line.replace(broken, escaped)
    return line


class AuditEvent:
    """The record of one request, filled on its way (apiserver `pkg/audit/context.go`)."""

    annotations: dict[str, str] | None = None
    verdict: Verdict | None = None
    impersonated: User | None = None
    """The user that the request acts as."""
    status: bytes | None = None
    """The response status; None as long as there is none."""
    request: bytes | None = None
    """The object that was sent, as JSON."""
    response: bytes | None = None
    arrived = b""
    """The time of the arrival in RFC 3339, once it is needed."""
    fault = False
    """Whether a fault ended the request."""
    _acts = b""
    _reference: dict[str, str] | None = None

    def __init__(
        self,
        id: str,
        chosen: Chosen,
        info: RequestInfo,
        user: User | None,
        shown: bytes,
        uri: str,
        addresses: Sequence[str],
        agent: str,
        received: int,
    ) -> None:
        """Take the members of an event that are known from the start.

        `shown` is the user as JSON; `received` is in nanoseconds since 1970. Defaults are class attributes, and all
        bytes that the stages share are made once, so that recording a request is cheap.
        """
        self.id = id
        self.chosen = chosen
        self.level = chosen.level
        self.info = info
        self.user = user
        self.uri = uri
        self.addresses = addresses
        self.agent = agent
        self.received = received
        self._head = b'%s,"auditID":%s,"stage":"' % (LEVEL_TEXTS[chosen.level], text(id))
        verb = VERBS.get(info.verb) or verb_text(info.verb)
        self._fixed = b'","requestURI":%s,"verb":"%s","user":%s,' % (text(uri), verb, shown)
        tail = b'"sourceIPs":["%s"],' % '","'.join(addresses).encode() if addresses else b""
        self._tail = b'%s"userAgent":%s,' % (tail, text(agent)) if agent else tail
        self._object = b""
        if info.resourceful:
            self._object = object_json(info, None)

    def annotate(self, key: str, value: str) -> None:
        """Add an annotation; the first value of a key stays."""
        if self.annotations is None:
            self.annotations = {}
        found = self.annotations.setdefault(key, value)
        if found != value:
            LOG.warning("an audit annotation was set twice", extra={"fields": {"auditID": self.id, "key": key}})

    def decided(self, verdict: Verdict) -> None:
        """Record the decision of the authorizer (`WithAuthorization`)."""
        self.verdict = verdict

    def acts_as(self, user: User, constraint: str) -> None:
        """Record the user that the request acts as, and the limited right by which it does."""
        self.impersonated = user
        self._acts = b'"impersonatedUser":%s,' % user_json(user)
        if constraint:
            self._acts += b'"authenticationMetadata":{"impersonationConstraint":%s},' % text(constraint)

    def sent(self, name: str, namespace: str, uid: str, version: str) -> None:
        """Complete the reference to the object by the metadata of the body."""
        given = {"name": name, "namespace": namespace, "uid": uid, "resourceVersion": version}
        self._reference = {key: value for key, value in given.items() if value}

    @property
    def wants_request(self) -> bool:
        """Report whether the object that was sent is recorded."""
        return self.level >= REQUEST

    @property
    def wants_response(self) -> bool:
        """Report whether the object of the answer is recorded."""
        return self.level >= RESPONSE

    def requested(self, body: bytes) -> None:
        """Record the object that was sent, as JSON."""
        self.request = self._shown(body)

    def responded(self, body: bytes) -> None:
        """Record the object of the answer, as JSON; of a Status the short form at each level."""
        if body.startswith(b'{"kind":"Status"'):
            self.status = status_json(orjson.loads(body))
        if self.level >= RESPONSE:
            self.response = self._shown(body)

    def refused(self, error: ApiError) -> None:
        """Record the Status of an error."""
        found = error.status()
        self.status = status_json(found)
        if self.level >= RESPONSE:
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

    def encoded(self, stage: str, code: int, received: bytes, at: bytes, *, truncated: bool = False) -> bytes:
        """Return the event of a stage as one line of JSON, without its end.

        `code` is the status of the answer, 0 without one; the times are in RFC 3339. `truncated` leaves the objects
        out.
        """
        made = [self._head, STAGE_TEXTS[stage], self._fixed, self._acts, self._tail]
        if stage is RECEIVED:
            made.append(self._object)
        else:
            reference = self._reference
            made.append(object_json(self.info, reference) if reference and self._object else self._object)
            made.append(self._answer(code))
            if not truncated and self.level > METADATA:
                made.append(self._objects())
        made += (RECEIVED_AT, received, STAGE_AT, at, b'"', self._notes(TRUNCATED if truncated else None), b"}")
        line = b"".join(made)
        return line if line.isascii() else one_line(line)

    def _answer(self, code: int) -> bytes:
        status = self.status
        if status is None:
            return CODES.get(code) or b'"responseStatus":{"metadata":{},"code":%d},' % code
        if self.fault or not code:
            return b'"responseStatus":%s,' % status
        return b'"responseStatus":%s,"code":%d},' % (status.rpartition(b',"code"')[0], code)

    def _objects(self) -> bytes:
        request, response = self.request, self.response
        made = b'"requestObject":%s,' % request if request is not None else b""
        return made + b'"responseObject":%s,' % response if response is not None else made

    def _notes(self, more: Mapping[str, str] | None) -> bytes:
        verdict, notes = self.verdict, self.annotations
        if notes is None and more is None and verdict is not None and verdict.allowed and not verdict.reason:
            return ALLOW
        found = dict(notes or {}) | dict(more or {})
        if verdict is not None:
            if verdict.allowed or not verdict.error:
                found[DECISION] = "allow" if verdict.allowed else "forbid"
            found[REASON] = "internal error" if verdict.error and not verdict.allowed else verdict.reason
        if not found:
            return b""
        return b',"annotations":{%s}' % b",".join(b"%s:%s" % (text(k), text(v)) for k, v in sorted(found.items()))


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
