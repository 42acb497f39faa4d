"""Compare answers with a corpus, or record them into it.

Levels:

    code    same HTTP code
    fields  same code and, for a Status, the same reason and the same set of (field, reason) of the causes;
            for an object, the same object apart from managedFields; for a table, the same columns and cells
    exact   the whole answer: messages, managedFields, warnings
"""

from __future__ import annotations

import http.client
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.conformance.replay.corpus.player import Player
from tests.conformance.replay.differences import differences
from tests.conformance.replay.golden import read_lines, write_lines
from tests.conformance.replay.outcome import Outcome
from tests.conformance.replay.paths import Object

LEVELS = ("exact", "fields", "code")


def files(paths: list[Path]) -> Iterator[Path]:
    """Yield the files of corpora, for folders those in them."""
    for path in paths:
        yield from sorted(path.glob("*.jsonl*")) if path.is_dir() else [path]


def compare(player: Player, path: Path, *, level: str = "exact", only: str = "", show: int = 0) -> Outcome:
    """Play the cases of a file whose ids match the regular expression `only`."""
    outcome = Outcome()
    for case in read_lines(path):
        if not re.search(only, case["id"]):
            continue
        want, got = summary(case["answer"], level), summary(_play(player, case), level)
        same = json.dumps(want, sort_keys=True) == json.dumps(got, sort_keys=True)
        different = [] if same else differences(*json.loads(json.dumps([want, got]))) or ["another order or type"]
        outcome.add(case["id"], different, show)
    return outcome


def record(player: Player, path: Path, into: Path | None = None) -> int:
    """Write a corpus with the answers of this server; return the number of its cases."""
    cases = [{**case, "answer": _play(player, case)} for case in read_lines(path)]
    write_lines((into or path.parent) / path.name, cases, sort_keys=False)
    return len(cases)


def _play(player: Player, case: Object) -> Object:
    try:
        return player.play(case)
    except (http.client.HTTPException, OSError) as error:
        return {"code": 0, "body": f"no answer: {error}"}


def summary(answer: Object, level: str) -> Any:
    """Return the part of an answer that is compared at a level."""
    if level == "code":
        return answer["code"]
    body = answer["body"]
    if level == "exact" or not isinstance(body, dict):
        return answer if level == "exact" else [answer["code"], body]
    if body.get("kind") == "Status" and "metadata" in body and answer["code"] >= 400:
        causes = (body.get("details") or {}).get("causes") or []
        return [answer["code"], body.get("reason"), sorted({(c.get("field", ""), c.get("reason", "")) for c in causes})]
    if isinstance(body.get("metadata"), dict):
        body = {**body, "metadata": {k: v for k, v in body["metadata"].items() if k != "managedFields"}}
    if body.get("kind") == "Table":
        columns = [(c["name"], c["priority"]) for c in body["columnDefinitions"]]
        body = {"columns": columns, "rows": [r["cells"] for r in body.get("rows") or []]}
    return [answer["code"], body]
