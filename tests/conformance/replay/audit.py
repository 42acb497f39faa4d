"""Audit sessions: what a server writes to its audit log, or sends to its audit webhook, for each request.

A session is a scenario whose steps with an id are sent with the header `Audit-ID: SESSION.ID`, by which their events
are found. The golden line of a step has the HTTP status and the events in their order; `<ip>` is an address, audit ids
are left out. A step's `ignore` names paths in the list of events; `sink: true` adds how the batches came (never their
number).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from tests.conformance.replay import golden, scenario
from tests.conformance.replay.client import Client
from tests.conformance.replay.differences import differences
from tests.conformance.replay.events import Events
from tests.conformance.replay.outcome import Outcome
from tests.conformance.replay.paths import Object, drop, split
from tests.conformance.replay.placeholders import normalise
from tests.conformance.replay.session import Session

LATENCY = "apiserver.latency.k8s.io/"
"""The prefix of annotations that only slow requests have."""


def prepare(events: list[Object], ignored: list[str], names: dict[str, str]) -> Any:
    """Return events with placeholders."""
    copies = normalise(json.loads(json.dumps(events)), names)
    for event in copies:
        del event["auditID"]
        if event["user"].get("username") == "admin":
            event["user"].pop("uid", None)  # that of the token file
        event["sourceIPs"] = ["<ip>" for _ in event.get("sourceIPs", [])]
        annotations = event.get("annotations", {})
        for key in [k for k in annotations if k.startswith(LATENCY)]:
            del annotations[key]
        if not annotations:
            event.pop("annotations", None)
    for path in ignored:
        drop(copies, split(path))
    return copies


def answers(client: Client, source: Events, path: Path, quiet: float) -> dict[str, Object]:
    """Run a session; return the status and the events of each step by its id.

    `quiet` are the seconds without an event after which all have come.
    """
    steps, session = scenario.load(path), Session(client)
    statuses: dict[str, Any] = {}
    for step in steps:
        name = step.get("id")
        if name and "do" in step:
            headers = {"Audit-ID": f"{path.stem}.{name}", **step.get("headers", {})}
            answer = session.answer({**step, "headers": headers, "only": ["status"]})
        else:
            answer = session.answer({**step, "only": ["status"]})
        if name:
            statuses[name] = (answer or {}).get("status")
        elif answer and not all(answer.get("checks", {}).values()):
            print(f"set-up failed: {path.stem} {step.get('do')}", file=sys.stderr)
    by_id: dict[str, list[Object]] = {}
    for event in source.settle(quiet):
        by_id.setdefault(event["auditID"], []).append(event)
    outcome: dict[str, Object] = {}
    for step in steps:
        if name := step.get("id"):
            events = prepare(by_id.get(f"{path.stem}.{name}", []), step.get("ignore", []), session.names)
            outcome[name] = {"status": statuses[name], "events": events}
            if step.get("sink") and source.sink:
                outcome[name]["batches"] = source.sink.kinds()
    return outcome


def compare(
    client: Client, source: Events, path: Path, *, against: Path | None = None, quiet: float = 1.5, show: int = 0
) -> Outcome:
    """Run a session and compare it with its golden file."""
    lines, outcome = golden.read(golden.file_of(path, against)), Outcome()
    for name, answer in answers(client, source, path, quiet).items():
        different = differences(lines[name]["answer"], answer) if name in lines else ["no golden"]
        outcome.add(f"{path.stem}/{name}", different, show)
    return outcome


def record(client: Client, source: Events, path: Path, into: Path | None = None, quiet: float = 1.5) -> int:
    """Write the golden file of a session; return the number of its lines."""
    lines = [{"id": name, "answer": answer} for name, answer in answers(client, source, path, quiet).items()]
    golden.write_lines(golden.file_of(path, into), lines)
    return len(lines)
