"""The cases: the parts that each runs, and the proof in its result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from hydrofoil.bench.options import LoadOptions
from hydrofoil.bench.session import Part

PAGE = 500
WRITERS = 10
"""Connections that write."""
CHURN = ["create", "update", "delete"]
ALL = ["create", "update", "merge", "apply", "status", "delete"]


class Wanted(NamedTuple):
    """A case with one encoding, as it is about to run."""

    load: LoadOptions
    encoding: str
    version: int
    """The version to watch from."""
    pods: list[dict[str, Any]]
    """Pods whose status is written."""


class Case(NamedTuple):
    """One case."""

    unit: str
    seeded: bool
    """Whether it needs the seeded objects."""
    watches: bool
    shape: Callable[[Wanted], str]
    """The part of its name that shows its size."""
    parts: Callable[[Wanted], list[Part]]
    proof: Callable[[Wanted, dict[str, Any]], list[str]]
    """The lines of its proof, from the outcome."""


def writes(wanted: Wanted, steps: list[str], objects: int, shown: bool) -> Part:
    """Return the part that writes."""
    part: Part = {"part": "writes", "connections": WRITERS, "steps": steps, "objects": objects}
    return {**part, "pods": wanted.pods, "shown": shown}


def replay(wanted: Wanted) -> Part:
    """Return the part that reads all events again, after the measurement."""
    return {"part": "replay", "from": wanted.version}


def _rate(load: LoadOptions) -> str:
    return f"rate={load.rate:g}/s" if load.rate else "rate=max"


def _list(wanted: Wanted) -> list[Part]:
    return [{"part": "list", "readers": wanted.load.readers}]


def _list_cases(wanted: Wanted, outcome: dict[str, Any]) -> list[str]:
    proof = [f"every list holds {wanted.load.objects} objects once, in order"]
    if same := outcome["parts"][0]["same"]:
        proof.append(f"{same} packed lists repeat, byte for byte, one that was unpacked and checked")
    return proof


def _pages(wanted: Wanted) -> list[Part]:
    return [{"part": "pages", "readers": wanted.load.readers, "limit": PAGE}]


def _page_cases(wanted: Wanted, _: dict[str, Any]) -> list[str]:
    return [f"every page holds the next objects, each once, in order; every walk ends at {wanted.load.objects}"]


def _informers(wanted: Wanted) -> list[Part]:
    return [{"part": "informers", "count": wanted.load.watchers}]


def _informer_cases(wanted: Wanted, outcome: dict[str, Any]) -> list[str]:
    if outcome["initial_events"] is False:
        return [f"the server has no initial events: every start is a list of {wanted.load.objects} objects and a watch"]
    order = ", in no order" if outcome["parts"][0]["unordered"] else ", in order"
    return [f"every start has {wanted.load.objects} initial events once{order}, then the marked bookmark"]


def _watch(wanted: Wanted) -> list[Part]:
    watched: Part = {"part": "watch", "count": wanted.load.watchers, "from": wanted.version}
    return [watched, writes(wanted, CHURN, wanted.load.watchers, False), replay(wanted)]


def _watch_cases(wanted: Wanted, outcome: dict[str, Any]) -> list[str]:
    return [
        f"each of {wanted.load.watchers} watchers got every acknowledged write of its object once, in order, "
        f"with its resourceVersion, and no other event ({outcome['parts'][1]['ops']} writes)"
    ]


def _fanout(wanted: Wanted) -> list[Part]:
    watched: Part = {"part": "fanout", "count": wanted.load.watchers, "from": wanted.version}
    return [watched, writes(wanted, CHURN, 0, False), replay(wanted)]


def _fan_out_cases(wanted: Wanted, outcome: dict[str, Any]) -> list[str]:
    return [
        f"every one of {outcome['parts'][1]['ops']} acknowledged writes came once, in order, with its resourceVersion, "
        f"to each of {wanted.load.watchers} watchers"
    ]


def _writes(wanted: Wanted) -> list[Part]:
    return [writes(wanted, ALL, 0, True), replay(wanted)]


def _write_cases(_: Wanted, outcome: dict[str, Any]) -> list[str]:
    alive = sum(item["alive"] for item in outcome["written"])
    return [
        "every answer shows its write and a higher resourceVersion",
        f"a list then shows the last acknowledged write of {alive} objects, "
        f"and none of {len(outcome['written']) - alive} deleted ones",
    ]


def _mixed_parts(wanted: Wanted) -> list[Part]:
    load = wanted.load
    return [
        *_list(wanted),
        *_pages(wanted),
        {"part": "informers", "count": load.readers},
        {"part": "watch", "count": load.watchers, "from": wanted.version},
        {"part": "fanout", "count": load.watchers, "from": wanted.version},
        writes(wanted, ALL, load.watchers, True),
        replay(wanted),
    ]


def _mixture(_wanted: Wanted, _outcome: dict[str, Any]) -> list[str]:
    return ["lists, pages, initial events, events and writes were checked as in their own cases, at the same time"]


CASES: dict[str, Case] = {
    "list": Case("lists", True, False, lambda w: f"readers={w.load.readers}", _list, _list_cases),
    "pages": Case("pages", True, False, lambda w: f"limit={PAGE} readers={w.load.readers}", _pages, _page_cases),
    "watch": Case(
        "delivered events", False, True, lambda w: f"watchers={w.load.watchers} {_rate(w.load)}", _watch, _watch_cases
    ),
    "fanout": Case(
        "delivered events",
        False,
        True,
        lambda w: f"watchers={w.load.watchers} {_rate(w.load)}",
        _fanout,
        _fan_out_cases,
    ),
    "informers": Case(
        "informer starts", True, False, lambda w: f"informers={w.load.watchers}", _informers, _informer_cases
    ),
    "writes": Case("writes", False, True, lambda _: f"connections={WRITERS}", _writes, _write_cases),
    "mixed": Case(
        "operations", True, True, lambda w: f"watchers={2 * w.load.watchers} {_rate(w.load)}", _mixed_parts, _mixture
    ),
}
