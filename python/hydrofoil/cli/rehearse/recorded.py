"""The requests of an audit log, without a change and with it: two copies get what each of them has done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any

import orjson
from msgspec import Struct, field

from hydrofoil.cli.dumps.recording import MERGE, METHODS, STRATEGIC, Recorded, RecordError, Recording, parse_record
from hydrofoil.cli.failure import USAGE, Failure
from hydrofoil.cli.rehearse.client import Answer
from hydrofoil.cli.rehearse.copy import Copy, start_copy
from hydrofoil.cli.rehearse.report import Report
from hydrofoil.cli.rehearse.rights import MODES, Rights, modes_of, read_user
from hydrofoil.controls.documents import Document
from hydrofoil.request import LONG_RUNNING, RequestInfo, parse, refusal
from hydrofoil.server.dumped_log import Contents

Object = dict[str, Any]
READS = frozenset(("GET", "HEAD", "OPTIONS"))
NO_RIGHT = "its user has no right to it in the source"


class Judged(Struct):
    """What a change does to the requests of a log."""

    requests: int = 0
    """The number of those that were allowed when they were recorded."""
    refused: list[Object] = field(default_factory=list)
    follow: list[Object] = field(default_factory=list)
    """Requests that fail since one before them was refused."""
    unjudged: list[Object] = field(default_factory=list)
    invalid: list[Object] = field(default_factory=list)
    """Objects of the change that are refused themselves."""
    unread: list[str] = field(default_factory=list)
    """A line on each object of the source that could not be taken."""


async def judge_requests(contents: Contents, change: Sequence[Document], log: str, given: Mapping[str, Any]) -> Judged:
    """Return what a change does to the requests of a log. Raise Failure for a log that cannot be read."""
    try:
        recording = Recording(log)
    except OSError as e:
        raise Failure(f"{log}: {(e.strerror or str(e)).lower()}", code=USAGE) from None
    found = Judged()
    modes = modes_of(contents, change)
    try:
        async with AsyncExitStack() as copies:
            before, after = [
                await copies.enter_async_context(
                    start_copy(contents, given, webhooks=bool(given["webhooks"]), modes=modes)
                )
                for _ in range(2)
            ]
            found.invalid, found.unread = await after.apply(change), list(before.problems)
            work = RequestRehearsal(before, after, found, judges_rights=modes == MODES)
            for place, content in recording.contents():
                await work.judge(place.line, content)
    finally:
        recording.close()
    found.unjudged = [{"line": line, "reason": why} for line, why in recording.problems] + found.unjudged
    return found


class RequestRehearsal:
    """The copies without the change and with it, and the requests that both get."""

    def __init__(self, before: Copy, after: Copy, found: Judged, *, judges_rights: bool) -> None:
        self._copies = before, after
        self._rights = Rights(before), Rights(after)
        self._found = found
        self._judges_rights = judges_rights

    async def judge(self, line: int, content: Object) -> None:
        """Judge one record."""
        entry: Object = {"line": line, "verb": str(content.get("verb")), "uri": str(content.get("requestURI"))}
        user = read_user(content)
        entry["user"] = user.name
        code = (content.get("responseStatus") or {}).get("code")
        if isinstance(code, int) and code >= 400:
            # It was refused then.
            return
        self._found.requests += 1
        method = METHODS.get(entry["verb"])
        if method is None or not entry["uri"].startswith("/"):
            self._put_off(entry, "its verb or its requestURI is unknown")
            return
        info = parse(method, entry["uri"])
        is_allowed = True
        if self._judges_rights and user.name:
            (was, _), (is_allowed, reason) = [await rights.ask(user, info) for rights in self._rights]
            if not was:
                self._put_off(entry, NO_RIGHT)
                return
            if not is_allowed:
                self._found.refused.append({**entry, "code": 403, "reason": refusal(user, info, reason).message})
        if method in READS and not (entry["verb"] == "get" and info.name and self._found.refused):
            # Only what a refused request would have made can be missing.
            return
        if recorded := self._read(entry, content, info, is_allowed=is_allowed):
            before, after = self._copies
            was_answer = await send(before, recorded)
            # Without the change the request is made: others may depend on it.
            if is_allowed:
                self._compare(entry, was_answer, await send(after, recorded))

    def _read(self, entry: Object, content: Object, info: RequestInfo, *, is_allowed: bool) -> Recorded | None:
        """Return a request to be sent; put off one that cannot be, unless it is judged already."""
        reason = ""
        try:
            recorded = parse_record(content)
            if not info.resourceful or info.subresource in LONG_RUNNING:
                # The copy has no pods and no nodes to speak with.
                reason = "it is no request for an object"
            elif not is_header(recorded.user):
                reason = "no header can name its user"
        except RecordError as e:
            recorded, reason = None, str(e)
        if reason and is_allowed:
            self._put_off(entry, reason)
        return None if reason else recorded

    def _put_off(self, entry: Object, reason: str) -> None:
        self._found.unjudged.append({**entry, "reason": reason})

    def _compare(self, entry: Object, before: Answer, after: Answer) -> None:
        if after.status < 400:
            return
        message = str(after.content().get("message") or "")
        what = {**entry, "code": after.status, "reason": message}
        # Whether the name of a new object is free is looked at last.
        is_taken = before.status == 409 and after.status in (403, 422)
        if before.status < 400 and after.status in (404, 409):
            self._found.follow.append(what)
        elif before.status < 400 or is_taken:
            self._found.refused.append(what)
        elif before.status != 409 or after.status != 409:
            self._put_off(entry, f"it is refused without the change, too: {message}")


async def send(copy: Copy, recorded: Recorded) -> Answer:
    """Send a request as its user; return the answer."""
    body = forget_versions(recorded.body)
    answer = await copy.act(recorded.method, recorded.uri, recorded.media, body, recorded.user)
    if answer.status == 415 and recorded.media == STRATEGIC:
        # Of a custom resource, it was a merge patch.
        answer = await copy.act(recorded.method, recorded.uri, MERGE, body, recorded.user)
    return answer


def is_header(lines: Mapping[str, object]) -> bool:
    """Report whether texts can be values of header lines."""
    texts = [text for value in lines.values() for text in (value if isinstance(value, list) else [value])]
    return all(str(text).isprintable() for text in (*lines, *texts))


def forget_versions(body: bytes) -> bytes:
    """Return a body without the version and the uid of its object, or of the one to delete: those here are others."""
    content = orjson.loads(body) if body else None
    if not isinstance(content, dict):
        return body
    metadata = content.get("metadata")
    if isinstance(metadata, dict):
        known = ("resourceVersion", "uid")
        content["metadata"] = {name: value for name, value in metadata.items() if name not in known}
    content.pop("preconditions", None)
    return orjson.dumps(content)


def add_requests(report: Report, judged: Judged) -> None:
    """Add the requests to a report."""
    report.content |= {
        "requests": judged.requests,
        "requests_refused": judged.refused,
        "requests_follow": judged.follow,
        "requests_unjudged": judged.unjudged,
    }
    for outcome, entries in (
        ("refused", judged.refused),
        ("follows", judged.follow),
        ("not judged", judged.unjudged),
    ):
        report.add_rows(outcome, [{**one, "name": describe_request(one)} for one in entries])
    numbers = f"{len(judged.refused)} refused, {len(judged.follow)} follow, {len(judged.unjudged)} not judged"
    report.add_line(f"{judged.requests} requests, {numbers}")


def describe_request(entry: Mapping[str, Any]) -> str:
    """Return a request as in a table."""
    words = (f"line {entry['line']}:", entry.get("user"), entry.get("verb"), entry.get("uri"))
    return " ".join(str(word) for word in words if word)
