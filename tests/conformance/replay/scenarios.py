"""Compare the answers to a scenario with its golden file, or record that file."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path

from tests.conformance.replay import golden, scenario
from tests.conformance.replay.client import Client
from tests.conformance.replay.differences import differences
from tests.conformance.replay.outcome import Outcome
from tests.conformance.replay.session import Session


def compare(
    client: Client,
    path: Path,
    *,
    against: Path | None = None,
    only: Collection[str] = (),
    show: int = 0,
    session: Session | None = None,
) -> Outcome:
    """Run a scenario and compare the steps that `only` names (`ID` or `FILE/ID`; all without it)."""
    outcome = Outcome()
    steps, session = scenario.load(path), session or Session(client)
    wanted = set(only)
    chosen = {s["id"] for s in steps if "id" in s and (not only or {s["id"], f"{path.stem}/{s['id']}"} & wanted)}
    if not chosen:
        return outcome
    lines = golden.read(golden.file_of(path, against))
    for step in steps:
        answer = session.answer(step)
        name = str(step.get("id", ""))
        if answer is None or name not in chosen:
            continue
        line = lines.get(name)
        different = ["no golden"] if not line else differences(line["answer"], answer, step.get("compare") == "subset")
        mark = f"  [{line['source']}: {line['note']}]" if line and "source" in line else ""
        outcome.add(f"{path.stem}/{name}", different, show, f"  {str(step.get('do', ''))[:120]}{mark}")
    return outcome


def record(client: Client, path: Path, into: Path | None = None) -> tuple[int, list[str]]:
    """Write the golden file of a scenario; return the number of its lines, and the steps that look wrong.

    A scenario whose answers are all written by hand is not run.
    """
    steps, session = scenario.load(path), Session(client)
    by_hand = all("expect" in step for step in steps if "id" in step)
    lines, wrong = [], []
    for step in steps:
        answer = None if by_hand else session.answer(step)
        if answer and (answer.get("status") == 0 or not all(answer.get("checks", {}).values())):
            wrong.append(f"{path.stem}/{step.get('id', step.get('do'))}: {json.dumps(answer)[:400]}")
        if "id" not in step:
            continue
        line = {"id": step["id"], "answer": answer}
        if "expect" in step:
            source = "decided" if "decided" in step else "expected"
            checks = {"checks": dict.fromkeys(step["checks"], True)} if "checks" in step else {}
            line |= {"answer": step["expect"] | checks, "source": source, "note": step[source]}
        lines.append(line)
    golden.write_lines(golden.file_of(path, into), lines)
    return len(lines), wrong
