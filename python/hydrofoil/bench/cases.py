"""The cases: the parts that each runs, and the proof in its result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from hydrofoil.bench.manager import MANAGER
from hydrofoil.bench.options import LoadOptions
from hydrofoil.bench.session import Part

PAGE = 500
WRITES_BESIDE = 200.0
"""Writes a second beside watchers, unless a rate is given."""
WRITERS = 10
"""Connections that write."""
CHURN = ["create", "update", "delete"]
ALL = ["create", "update", "merge", "apply", "status", "delete"]


GROUPS = 10
"""The groups of the seeded objects; a selector finds one of them."""
SPREAD = 50
"""The namespaces of the case with many."""


class Wanted(NamedTuple):
    """A case with one encoding, as it is about to run."""

    load: LoadOptions
    encoding: str
    version: int
    """The version to watch from."""
    pods: list[dict[str, Any]]
    """Pods whose status is written."""
    readers: int = 4
    rate: float | None = None
    """Operations a second; 0 for as many as possible, None for the rate that the case has by itself."""
    paths: tuple[str, ...] = ()
    """The collections that a controller manager watches, of those that the server has."""

    def write_rate(self) -> float:
        """Return the writes a second beside watchers."""
        return WRITES_BESIDE if self.rate is None else self.rate


class Case(NamedTuple):
    """One case."""

    unit: str
    seeded: bool
    """Whether it needs the seeded objects."""
    sweeps: tuple[str, ...]
    """The options of which each value is measured, where several are given."""
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


def _beside(wanted: Wanted) -> str:
    rate = wanted.write_rate()
    return f"rate={rate:g}/s" if rate else "rate=max"


def _open(wanted: Wanted) -> str:
    """Return the rate of an open model; nothing where each answer is followed by the next request."""
    return f" rate={wanted.rate:g}/s" if wanted.rate else ""


def _list(wanted: Wanted) -> list[Part]:
    return [{"part": "list", "readers": wanted.readers}]


def _list_cases(wanted: Wanted, outcome: dict[str, Any]) -> list[str]:
    proof = [f"every list holds {wanted.load.objects} objects once, in order"]
    if same := outcome["parts"][0]["same"]:
        proof.append(f"{same} packed lists repeat, byte for byte, one that was unpacked and checked")
    return proof


def _selected(wanted: Wanted) -> list[Part]:
    query = "?labelSelector=hydrofoil.dev%2Fbench-group%3D0"
    return [{"part": "list", "readers": wanted.readers, "query": query, "stride": GROUPS}]


def _selected_cases(wanted: Wanted, _: dict[str, Any]) -> list[str]:
    return [f"every list holds each {GROUPS}th of {wanted.load.objects} objects once, in order, and no other"]


def _cached(wanted: Wanted) -> list[Part]:
    return [{"part": "list", "readers": wanted.readers, "query": "?resourceVersion=0", "old": True}]


def _namespaces_cases(wanted: Wanted, _: dict[str, Any]) -> list[str]:
    objects = wanted.load.objects
    return [f"every list holds {objects} objects of {SPREAD} namespaces once, in order, each in its namespace"]


def _manager(wanted: Wanted) -> list[Part]:
    return [{"part": "manager", "paths": list(wanted.paths)}]


def _manager_cases(wanted: Wanted, _: dict[str, Any]) -> list[str]:
    return [f"each of {len(wanted.paths)} informers got its initial events, and the bookmark behind them"]


def _pages(wanted: Wanted) -> list[Part]:
    return [{"part": "pages", "readers": wanted.readers, "limit": PAGE}]


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
        {"part": "informers", "count": wanted.readers},
        {"part": "watch", "count": load.watchers, "from": wanted.version},
        {"part": "fanout", "count": load.watchers, "from": wanted.version},
        writes(wanted, ALL, load.watchers, True),
        replay(wanted),
    ]


def _mixture(_wanted: Wanted, _outcome: dict[str, Any]) -> list[str]:
    return ["lists, pages, initial events, events and writes were checked as in their own cases, at the same time"]


READS, RATE = ("readers", "rate"), ("rate",)
CASES: dict[str, Case] = {
    "list": Case("lists", True, READS, False, lambda w: f"readers={w.readers}{_open(w)}", _list, _list_cases),
    "pages": Case(
        "pages", True, READS, False, lambda w: f"limit={PAGE} readers={w.readers}{_open(w)}", _pages, _page_cases
    ),
    "watch": Case(
        "delivered events",
        False,
        RATE,
        True,
        lambda w: f"watchers={w.load.watchers} {_beside(w)}",
        _watch,
        _watch_cases,
    ),
    "fanout": Case(
        "delivered events",
        False,
        RATE,
        True,
        lambda w: f"watchers={w.load.watchers} {_beside(w)}",
        _fanout,
        _fan_out_cases,
    ),
    "informers": Case(
        "informer starts",
        True,
        RATE,
        False,
        lambda w: f"informers={w.load.watchers}{_open(w)}",
        _informers,
        _informer_cases,
    ),
    "writes": Case("writes", False, RATE, True, lambda w: f"connections={WRITERS}{_open(w)}", _writes, _write_cases),
    "selector": Case(
        "lists", True, READS, False, lambda w: f"readers={w.readers}{_open(w)}", _selected, _selected_cases
    ),
    "cached": Case("lists", True, READS, False, lambda w: f"readers={w.readers}{_open(w)}", _cached, _list_cases),
    "namespaces": Case(
        "lists", False, READS, False, lambda w: f"readers={w.readers}{_open(w)}", _list, _namespaces_cases
    ),
    "manager": Case(
        "manager starts",
        False,
        (),
        False,
        lambda w: f"informers={len(w.paths) or len(MANAGER)}",
        _manager,
        _manager_cases,
    ),
    "mixed": Case(
        "operations",
        True,
        READS,
        True,
        lambda w: f"watchers={2 * w.load.watchers} {_beside(w)}",
        _mixed_parts,
        _mixture,
    ),
}


class Variant(NamedTuple):
    """A case with one encoding, one number of readers and one rate."""

    case: str
    encoding: str
    readers: int
    rate: float | None

    def wanted(self, load: LoadOptions, version: int = 0, pods: Sequence[dict[str, Any]] = ()) -> Wanted:
        """Return what is to run."""
        return Wanted(load, self.encoding, version, list(pods), self.readers, self.rate)

    def rates(self) -> tuple[float, float]:
        """Return writes and reads a second; 0 for as many as possible."""
        case = CASES[self.case]
        if case.unit == "writes":
            return self.rate or 0.0, 0.0
        beside = WRITES_BESIDE if self.rate is None else self.rate
        return (beside, 0.0) if case.watches else (0.0, self.rate or 0.0)

    def packed(self, load: LoadOptions) -> bool:
        """Report whether its lists may be packed."""
        return load.gzip and self.case in ("list", "pages", "mixed", "selector", "cached", "namespaces")

    def name(self, load: LoadOptions, wanted: Wanted | None = None) -> str:
        """Return its name in results."""
        packed = "+gzip" if self.packed(load) else ""
        return f"{self.case} {self.encoding}{packed} {CASES[self.case].shape(wanted or self.wanted(load))}"

    def connections(self, load: LoadOptions) -> int:
        """Return the connections that bear the load of a rate."""
        if CASES[self.case].watches:
            return WRITERS
        return load.watchers if self.case == "informers" else self.readers


def variants(cases: Sequence[str], load: LoadOptions) -> list[Variant]:
    """Return what a run measures, in its order."""
    found = []
    for case in cases:
        sweeps = CASES[case].sweeps
        readers = load.readers if "readers" in sweeps else load.readers[:1]
        rates = load.rate if load.rate and "rate" in sweeps else (None,)
        for encoding in load.encoding:
            found += [Variant(case, encoding, n, rate) for n in readers for rate in rates]
    return found
