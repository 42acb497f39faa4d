"""`hydrofoil replay`: send the requests of an audit log again, and compare the codes of the answers."""

from __future__ import annotations

import http.client
import sys
import time
from typing import Any

import orjson

from hydrofoil.cli.access import AccessOptions, find_access
from hydrofoil.cli.client import connection_to
from hydrofoil.cli.command import Command
from hydrofoil.cli.dumps.progress import Bar, progress
from hydrofoil.cli.dumps.recording import MERGE, STRATEGIC, Recorded, RecordError, Recording
from hydrofoil.cli.failure import USAGE, WRONG, Failure
from hydrofoil.clock import stopwatch
from hydrofoil.options import Options, anything, boolean, flag
from hydrofoil.outbound.kubeconfig import Access

IDLE_SECONDS = 5.0
"""The time after which a connection is opened anew: the server may have closed it meanwhile."""
UNSUPPORTED_MEDIA = 415


class ReplayOptions(Options):
    """Replay."""

    speed: str = flag(
        "--speed", "1", anything, "as fast as it was, a multiple of that, or max (default {})", value="1|N|max"
    )
    as_user: bool = flag(
        "--as-user", False, boolean, "act as the user of each request; it takes the right to impersonate", value="BOOL"
    )
    as_json: bool = flag("--json", False, boolean, "print the result as JSON on a terminal, too", value="BOOL")


def run(given: dict[str, Any], arguments: tuple[str, ...]) -> int:
    """Replay a log; return the exit code. Raise Failure."""
    if not arguments:
        raise Failure("AUDIT.log is missing", "hydrofoil replay AUDIT.log --server URL", USAGE)
    options = ReplayOptions.pick(given)
    speed = parse_speed(options.speed)
    sender = Sender(find_access(AccessOptions.pick(given)), options.as_user)
    try:
        recording = Recording(arguments[0])
    except OSError as e:
        raise Failure(f"{arguments[0]}: {(e.strerror or str(e)).lower()}", code=WRONG) from None
    result = Result()
    begun = stopwatch()
    try:
        sender.check()
        with progress() as bar:
            replay(recording, sender, speed, result, bar)
    finally:
        recording.close()
        sender.close()
    seconds = stopwatch() - begun
    if sys.stdout.isatty() and not options.as_json:
        sys.stdout.write(result.text(seconds))
    else:
        sys.stdout.write(result.json(seconds).decode())
    return WRONG if result.different or result.failed else 0


def parse_speed(text: str) -> float:
    """Return how much faster than the log; 0 for as fast as can be. Raise Failure."""
    try:
        found = 0.0 if text == "max" else float(text)
    except ValueError:
        found = -1.0
    if text != "max" and not 0 < found < float("inf"):
        raise Failure(f"--speed {text!r} is neither a number above 0 nor max", code=USAGE)
    return found


class Result:
    """What a replay has found."""

    def __init__(self) -> None:
        self.sent = 0
        self.same_code = 0
        self.different: list[dict[str, Any]] = []
        self.failed: list[dict[str, Any]] = []

    def fail(self, line: int, reason: str) -> None:
        """Record a line that was not sent, or not answered."""
        self.failed.append({"line": line, "reason": reason})

    def compare(self, line: int, recorded: Recorded, code: int) -> None:
        """Record the code of an answer."""
        self.sent += 1
        if code == recorded.code:
            self.same_code += 1
            return
        what = {"line": line, "verb": recorded.verb, "uri": recorded.uri}
        self.different.append({**what, "expected": recorded.code, "code": code})

    def json(self, seconds: float) -> bytes:
        """Return the result as one line of JSON."""
        return orjson.dumps({**vars(self), "seconds": round(seconds, 3)}) + b"\n"

    def text(self, seconds: float) -> str:
        """Return the same for people."""
        numbers = f"{self.sent} sent, {self.same_code} with the same code, {len(self.different)} with another one"
        lines = [f"{numbers}, {len(self.failed)} failed in {seconds:.1f} s"]
        lines += [
            f"line {one['line']}: {one['verb']} {one['uri']}: {one['code']}, not {one['expected']}"
            for one in self.different
        ]
        lines += [f"line {one['line']}: {one['reason']}" for one in self.failed]
        return "".join(f"{line}\n" for line in lines)


class Sender:
    """The requests to one server, one after the other: a write comes after those that it depends on."""

    def __init__(self, access: Access, as_user: bool) -> None:
        """Raise Failure for an address or certificates that have no meaning."""
        self._access = access
        self._as_user = as_user
        self._connection = connection_to(access)
        self._used = stopwatch()

    def check(self) -> None:
        """Raise Failure if the server does not answer at all."""
        try:
            self._ask("GET", "/version", b"", {}, whole=True)
        except (OSError, http.client.HTTPException) as e:
            why = reason(e)
            raise Failure(f"no answer from {self._access.url}: {why}", "hydrofoil ls lists servers", WRONG) from None

    def send(self, recorded: Recorded) -> int:
        """Send a request; return the code of the answer. Raise OSError, HTTPException."""
        headers: dict[str, str | list[str]] = {"Content-Type": recorded.media} if recorded.body else {}
        if self._as_user:
            headers |= recorded.user
        code = self._ask(recorded.method, recorded.uri, recorded.body, headers, whole=not recorded.is_stream)
        if code == UNSUPPORTED_MEDIA and recorded.media == STRATEGIC and recorded.code != UNSUPPORTED_MEDIA:
            # Of a custom resource, it was a merge patch.
            headers["Content-Type"] = MERGE
            code = self._ask(recorded.method, recorded.uri, recorded.body, headers, whole=True)
        return code

    def _ask(self, method: str, target: str, body: bytes, headers: dict[str, str | list[str]], *, whole: bool) -> int:
        """Send a request; return the code. An answer that is not read as a whole costs its connection."""
        if stopwatch() - self._used > IDLE_SECONDS:
            self._connection.close()
        try:
            self._connection.putrequest(method, target)
            for name, value in {"Accept": "application/json", "User-Agent": "hydrofoil", **headers}.items():
                for one in value if isinstance(value, list) else [value]:
                    self._connection.putheader(name, one.encode())
            if self._access.authorization:
                self._connection.putheader("Authorization", self._access.authorization)
            if body or method in ("POST", "PUT", "PATCH"):
                self._connection.putheader("Content-Length", str(len(body)))
            self._connection.endheaders(body)
            answer = self._connection.getresponse()
            if whole:
                answer.read()
            else:
                self._connection.close()
            return answer.status
        except BaseException:
            # Half of a request, or of an answer, is on it.
            self._connection.close()
            raise
        finally:
            self._used = stopwatch()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def reason(error: Exception) -> str:
    """Return why there is no answer."""
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error) or type(error).__name__


def replay(recording: Recording, sender: Sender, speed: float, result: Result, bar: Bar) -> None:
    """Send all requests, each at its time."""
    for line, why in recording.problems:
        result.fail(line, why)
    bar.describe("replaying", len(recording.places))
    begun, first = stopwatch(), recording.places[0].at if recording.places else 0.0
    for place, recorded in recording.records():
        if isinstance(recorded, RecordError):
            result.fail(place.line, str(recorded))
        else:
            if speed and (left := (place.at - first) / speed - (stopwatch() - begun)) > 0:
                time.sleep(left)
            try:
                result.compare(place.line, recorded, sender.send(recorded))
            except (OSError, http.client.HTTPException, ValueError) as e:
                result.fail(place.line, f"no answer: {reason(e)}")
        bar.advance()
    result.failed.sort(key=lambda one: one["line"])


COMMAND = Command(
    "replay",
    (ReplayOptions, AccessOptions),
    run,
    "Send the requests of an audit log to a server again, and compare the codes of the answers.",
    arguments="AUDIT.log",
    most=1,
    examples=(
        "hydrofoil replay audit.log --server http://127.0.0.1:8080",
        "hydrofoil replay audit.log --speed 10 --as-user --kubeconfig ./admin.conf",
        "hydrofoil replay audit.log --speed max --server http://127.0.0.1:8080",
    ),
)
