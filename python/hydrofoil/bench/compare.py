"""Runs side by side: ratios, and notes on everything in which the runs are not alike."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import orjson

from hydrofoil.bench.failure import REFUSED, Stopped
from hydrofoil.bench.metrics import METRICS, Result, judge, value

Document = dict[str, Any]
APART = frozenset(
    ("server", "kubeconfig", "context", "token", "yes", "pid", "label", "report", "json", "against", "csv", "fail-if")
)
"""Options that do not change the load."""
BUSY = 0.5
MEASURED = ("ok", "overloaded", "stopped")
WIDE = 0.25
"""The spread of the rates of samples, relative to their mean, at which a result is called unsteady."""
SURE = 2.0
"""Standard errors that a difference has to exceed."""


def read(paths: Sequence[str]) -> list[Document]:
    """Return the runs of files. Raise Stopped if one cannot be read."""
    if len(paths) < 2:
        raise Stopped("two or more files are needed", "hydrofoil bench compare A.json B.json", REFUSED)
    return [_document(path) for path in paths]


def _document(path: str) -> Document:
    try:
        found = orjson.loads(Path(path).read_bytes())
    except OSError as e:
        raise Stopped(f"{path}: {(e.strerror or str(e)).lower()}", "files of hydrofoil bench --json", REFUSED) from None
    except ValueError:
        found = None
    if not isinstance(found, dict) or found.get("schema") != 1 or "results" not in found:
        raise Stopped(f"{path} is no result of a benchmark", "files of hydrofoil bench --json", REFUSED)
    return found


def compare_documents(documents: Sequence[Document], names: Sequence[str]) -> Document:
    """Return rows of values with their ratios, and notes."""
    runs = [
        {"name": name, **{key: done[key] for key in ("time", "label", "server", "machine", "wrong", "left")}}
        for name, done in zip(names, documents, strict=True)
    ]
    rows: list[Document] = []
    notes = differences(documents, names)
    found = []
    for key in dict.fromkeys(_key(result) for done in documents for result in done["results"]):
        results = [next((r for r in done["results"] if _key(r) == key), None) for done in documents]
        found.append((next(r["name"] for r in results if r is not None), results))
    notes.extend(_incomplete(found, names))
    for _, results in found:
        usable = [r if r is not None and is_measured(r) else None for r in results]
        if sum(r is not None for r in usable) > 1:
            notes.extend(_unsteady(usable, names))
            rows.extend(_rows(usable, notes))
    if rows and all(interval is None for row in rows for interval in row["intervals"]):
        notes.insert(0, "each run has one measurement of a case, so that no difference is proven: --repeat 5")
    return {"schema": 1, "runs": runs, "rows": rows, "notes": notes}


def is_measured(result: Result) -> bool:
    """Report whether a result has figures of right answers; older files have no status."""
    return result.get("status", "ok") in MEASURED and result["error"] is None and bool(result["ops"])


def _sweep(name: str) -> str:
    """Return the readers and the rate of a name: other sizes are alike only in a run of the same options."""
    return " ".join(word for word in name.split() if word.startswith(("readers=", "rate=")))


def _key(result: Result) -> tuple[str, str, bool, str]:
    return result["case"], result["encoding"], result["gzip"], _sweep(result["name"])


def _rows(results: Sequence[Result | None], notes: list[str]) -> list[Document]:
    first = next(r for r in results if r is not None)
    rows = []
    for metric in METRICS:
        values = [None if r is None else value(r, metric) for r in results]
        if all(v is None for v in values):
            continue
        base = values[0]
        ratios = [None if v is None or not base else round(v / base, 4) for v in values]
        row = {"case": first["case"], "name": first["name"], "metric": metric, "values": values, "ratios": ratios}
        row["intervals"] = [None if r is None else r.get("intervals", {}).get(metric) for r in results]
        verdicts = [judge(metric, results[0], r) if results[0] and r else "alike" for r in results]
        rows.append({**row, "verdicts": verdicts})
    if unsure := doubtful(results):
        notes.append(f"{first['name']}: {unsure}")
    return rows


def spread(result: Result) -> tuple[float, float] | None:
    """Return standard deviation and standard error of the rates of samples, relative to their mean."""
    rates = [sample["per_second"] for sample in result["samples"]]
    if len(rates) < 3 or not (mean := fmean(rates)):
        return None
    deviation = stdev(rates) / mean
    return deviation, deviation / sqrt(len(rates))


def doubtful(results: Sequence[Result | None]) -> str:
    """Return why differences of the rate prove nothing; empty if they do."""
    first, *others = results
    if first is None or first.get("intervals"):
        return ""
    for other in others:
        if other is None:
            continue
        mine, theirs = spread(first), spread(other)
        if mine is None or theirs is None:
            return "too few samples for an estimate of the noise; take a longer --duration"
        error = sqrt(mine[1] ** 2 + theirs[1] ** 2) * SURE
        if abs(other["per_second"] / first["per_second"] - 1) < error:
            return f"the rates differ by less than the noise of the samples (about {error:.0%})"
    return ""


def _unsteady(results: Sequence[Result | None], names: Sequence[str]) -> list[str]:
    found = []
    for result, name in zip(results, names, strict=True):
        wide = spread(result) if result is not None and not result.get("intervals") else None
        if result is not None and wide is not None and wide[0] > WIDE:
            found.append(f"{result['name']}: the samples of {name} spread by {wide[0]:.0%}: unsteady")
    return found


def _incomplete(found: Sequence[tuple[str, Sequence[Result | None]]], names: Sequence[str]) -> list[str]:
    """Return a note for each run that lacks results, and for each wrong or skipped one."""
    notes = []
    for at, name in enumerate(names):
        absent = [title for title, results in found if results[at] is None]
        if absent:
            notes.append(f"absent from {name}: {', '.join(absent)}")
        for title, results in found:
            result = results[at]
            if result is not None and result["error"] is not None:
                notes.append(f"{title}: {result.get('status', 'wrong')} in {name}: {result['error']}")
            elif result is not None and result["skipped"] is not None:
                notes.append(f"{title}: skipped in {name}: {result['skipped']}")
            elif result is not None and result.get("status", "ok") != "ok":
                notes.append(f"{title}: {result['status']} in {name}")
    return notes


def differences(documents: Sequence[Document], names: Sequence[str]) -> list[str]:
    """Return a note for each thing in which machine, version, transport or options are not alike."""
    things: dict[str, list[Any]] = {}
    for key in ("cores", "cpu", "memory_mb"):
        things[f"machine {key}"] = [done["machine"].get(key) for done in documents]
    for key in ("gitVersion", "transport"):
        things[f"server {key}"] = [done["server"].get(key) for done in documents]
    for key in sorted({key for done in documents for key in done["options"]} - APART):
        things[f"--{key}"] = [done["options"].get(key) for done in documents]
    found = []
    for thing, values in things.items():
        if any(v != values[0] for v in values):
            shown = ", ".join(f"{plain(v)} ({name})" for v, name in zip(values, names, strict=True))
            found.append(f"{thing} is not alike: {shown}")
    for done, name in zip(documents, names, strict=True):
        load, cores = done["machine"].get("load_average") or 0, done["machine"].get("cores") or 1
        if load > BUSY * cores:
            found.insert(0, f"{name}: load average {load:g} on {cores} cores at the start: noisy")
        if not any(result["cpu_seconds"] is not None for result in done["results"]):
            found.append(f"{name}: without --pid, the CPU and memory of its server are unknown")
    return found


def plain(value: Any) -> str:
    """Return an option as its flag has it."""
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def labels(documents: Sequence[Document], paths: Sequence[str]) -> list[str]:
    """Return a name for each run: its label, else its file; numbered where they are the same."""
    found = [str(done["label"] or Path(path).stem) for done, path in zip(documents, paths, strict=True)]
    return [f"{name} ({i + 1})" if found.count(name) > 1 else name for i, name in enumerate(found)]
