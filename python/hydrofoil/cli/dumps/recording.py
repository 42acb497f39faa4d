"""The requests of an audit log, in the order in which they arrived."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple
from urllib.parse import parse_qs, quote, urlsplit

import orjson

LARGEST = 64 << 20
"""The greatest line in bytes."""
METHODS = {
    "get": "GET",
    "list": "GET",
    "watch": "GET",
    "create": "POST",
    "update": "PUT",
    "patch": "PATCH",
    "delete": "DELETE",
    "deletecollection": "DELETE",
    "head": "HEAD",
    "options": "OPTIONS",
    "post": "POST",
    "put": "PUT",
}
WITH_BODY = frozenset(("POST", "PUT", "PATCH"))
BODIES_KNOWN = frozenset(("Request", "RequestResponse"))
"""The levels at which a record has the body of its request, if that had one."""
COMPLETE = "ResponseComplete"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"


class RecordError(Exception):
    """A record that cannot be sent, and why."""


class Place(NamedTuple):
    """Where the record of a request is."""

    at: float
    """Its arrival, in seconds since 1970."""
    line: int
    offset: int
    length: int


class Recorded(NamedTuple):
    """A request."""

    method: str
    verb: str
    uri: str
    body: bytes
    media: str
    code: int
    """The code of its answer."""
    user: dict[str, str | list[str]]
    """Header lines by which its user is acted as."""
    is_stream: bool
    """Whether its answer does not end by itself: only the head counts."""


class Recording:
    """An audit log that is open."""

    def __init__(self, path: str) -> None:
        """Raise OSError."""
        self._file: BinaryIO = Path(path).open("rb")  # noqa: SIM115  It is closed by `close`.
        self.places: list[Place] = []
        """The records, the earliest arrival first: a request that came after an answer is behind its request."""
        self.problems: list[tuple[int, str]] = []
        """Lines that are no records, and why."""
        self._read()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _read(self) -> None:
        offset = number = 0
        while line := self._file.readline(LARGEST + 1):
            number += 1
            if len(line) > LARGEST:
                self.problems.append((number, "the line is too long"))
                while line and not line.endswith(b"\n"):
                    line = self._file.readline(LARGEST)
                offset = self._file.tell()
                continue
            start, offset = offset, offset + len(line)
            if not line.strip():
                continue
            try:
                at = arrival(line)
            except RecordError as e:
                self.problems.append((number, str(e)))
                continue
            if at is not None:
                self.places.append(Place(at, number, start, len(line)))
        self.places.sort(key=lambda place: place.at)

    def records(self) -> Iterator[tuple[Place, Recorded | RecordError]]:
        """Yield the requests, or why one cannot be sent."""
        for place, content in self.contents():
            try:
                yield place, parse_record(content)
            except RecordError as e:
                yield place, e

    def contents(self) -> Iterator[tuple[Place, dict[str, Any]]]:
        """Yield the records as they are."""
        for place in self.places:
            self._file.seek(place.offset)
            yield place, orjson.loads(self._file.read(place.length))


def arrival(line: bytes) -> float | None:
    """Return when the request of a record arrived; None for a record of another stage. Raise RecordError."""
    try:
        content = orjson.loads(line)
    except ValueError:
        raise RecordError("it is no JSON") from None
    if not isinstance(content, dict) or content.get("kind") != "Event":
        raise RecordError("it is no audit event")
    if content.get("stage") != COMPLETE:
        return None
    text = content.get("requestReceivedTimestamp") or content.get("stageTimestamp")
    try:
        return datetime.fromisoformat(str(text)).timestamp()
    except (ValueError, OverflowError):
        raise RecordError("it has no requestReceivedTimestamp") from None


def parse_record(content: dict[str, Any]) -> Recorded:
    """Return the request of a record. Raise RecordError."""
    verb, uri = content.get("verb"), content.get("requestURI")
    method = METHODS.get(verb) if isinstance(verb, str) else None
    if method is None:
        raise RecordError(f"requests of the verb {verb!r} cannot be sent again")
    if not isinstance(uri, str) or not uri.startswith("/") or not all("!" <= c <= "~" for c in uri):
        raise RecordError("it has no requestURI")
    status = content.get("responseStatus")
    code = status.get("code") if isinstance(status, dict) else None
    if not isinstance(code, int) or isinstance(code, bool):
        raise RecordError("it has no responseStatus.code")
    if code == 101:
        raise RecordError("an upgraded connection is not in the log")
    given = content.get("requestObject")
    if given is None and method in WITH_BODY:
        raise RecordError(f"the log has no requestObject for this {verb}")
    if given is None and method == "DELETE" and content.get("level") not in BODIES_KNOWN:
        raise RecordError(f"the log has no requestObject for this {verb}, as its level is {content.get('level')}")
    body = b"" if given is None else orjson.dumps(given)
    user = content.get("impersonatedUser") or content.get("user")
    query = parse_qs(urlsplit(uri).query)
    follows = verb == "watch" or query.get("follow", [""])[0] in ("true", "1")
    media = patch_type(uri, given) if method == "PATCH" else "application/json"
    return Recorded(method, str(verb), uri, body, media, code, impersonation(user), follows)


def patch_type(uri: str, patch: Any) -> str:
    """Return the media type of a patch, which no audit log has: only an apply is a whole object, or may be forced."""
    if isinstance(patch, list):
        return "application/json-patch+json"
    query = parse_qs(urlsplit(uri).query)
    is_whole = isinstance(patch, dict) and isinstance(patch.get("metadata"), dict) and "name" in patch["metadata"]
    if "force" in query or ("fieldManager" in query and is_whole and {"apiVersion", "kind"} <= patch.keys()):
        return "application/apply-patch+yaml"
    return STRATEGIC


def impersonation(user: Any) -> dict[str, str | list[str]]:
    """Return the header lines by which a user is acted as; none for a user without a name."""
    if not isinstance(user, dict) or not isinstance(user.get("username"), str) or not user["username"]:
        return {}
    found: dict[str, str | list[str]] = {"Impersonate-User": user["username"]}
    if user.get("uid"):
        found["Impersonate-Uid"] = str(user["uid"])
    if groups := [str(group) for group in user.get("groups") or ()]:
        found["Impersonate-Group"] = groups
    for name, values in (user.get("extra") or {}).items():
        found[f"Impersonate-Extra-{quote(str(name), safe='')}"] = [str(value) for value in values or ()]
    return found
