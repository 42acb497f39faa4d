"""Bodies of any size for every list, map and text of every kind, from the catalog; and how long work on them takes."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, TypeVar

import orjson

EXPONENT = 1.4
"""Work that grows with a larger power of its input is a way to stop the server."""

FLOOR = 0.006
"""The time in seconds below which times mean nothing."""

_RAW = orjson.loads((files("hydrofoil.apis") / "data" / "catalog.json").read_bytes())
_TYPES: dict[str, Any] = _RAW["types"]
_SPECIAL: dict[str, Any] = {"Quantity": 1, "IntOrString": 1, "Duration": "1s"}
_KEYS = frozenset(
    [
        "name",
        "key",
        "type",
        "ip",
        "uid",
        "port",
        "containerPort",
        "mountPath",
        "devicePath",
        "topologyKey",
        "hostPort",
        "values",
    ],
)
"""Members that identify items."""


@dataclass(frozen=True)
class Place:
    """A list, map or text in a kind: the names that lead to it (`[]` and `{}` for an item), and its shape."""

    group: str
    version: str
    plural: str
    kind: str
    path: tuple[str, ...]
    shape: str

    def __str__(self) -> str:
        return f"{self.plural}.{self.version}.{self.group or 'core'} {'.'.join(self.path)}"

    @property
    def is_text(self) -> bool:
        """Whether it is no list or map."""
        return self.shape in {"s", "y"}

    def body(self, size: int, *, full: bool) -> bytes:
        """Return an object in which the place has so many items, small or full ones; a text has as many bytes."""
        here: Any = _many(self.shape, size, full=full)
        for name in reversed(self.path):
            here = [here] if name == "[]" else {"k": here} if name == "{}" else {name: here}
        api_version = f"{self.group}/{self.version}" if self.group else self.version
        body = {"apiVersion": api_version, "kind": self.kind} | here
        body["metadata"] = {"name": "x", "namespace": "d"} | body.get("metadata", {})
        return orjson.dumps(body)


def places() -> Iterator[Place]:
    """Every list, map and text; a field of a type that many kinds have only in the first of them."""
    seen: set[tuple[str, str]] = set()
    for entry in _RAW["resources"]:
        for path, shape in _walk(entry["type"], (), seen):
            yield Place(entry["group"], entry["version"], entry["plural"], entry["kind"], path, shape)


def _walk(name: str, path: tuple[str, ...], seen: set[tuple[str, str]]) -> Iterator[tuple[tuple[str, ...], str]]:
    for entry in _TYPES[name]["f"]:
        field, shape = entry["n"], entry["s"]
        if (name, field) in seen or field in {"kind", "apiVersion"}:
            continue
        seen.add((name, field))
        here = (*path, field)
        if shape in {"s", "y"} or shape.startswith(("[]", "{}")):
            yield here, shape
        while shape.startswith(("[]", "{}")):
            here, shape = (*here, shape[:2]), shape[2:]
        if shape.startswith("#"):
            yield from _walk(shape[1:], here, seen)


def _many(shape: str, size: int, *, full: bool) -> Any:
    if shape == "s":
        return ("a1." * size)[:size]
    if shape == "y":
        return "YWJj" * (size // 4)
    if shape.startswith("[]"):
        return [_one(shape[2:], i, 1, full=full) for i in range(size)]
    return {f"k{i}": _one(shape[2:], i, 1, full=full) for i in range(size)}


def _one(shape: str, i: int, deep: int, *, full: bool) -> Any:
    """Return a value that differs from those of other numbers."""
    match shape[:1]:
        case "s":
            return f"v{i}"
        case "y":
            return "YWJj"
        case "i" | "l":
            return i + 1
        case "#":
            return _struct(shape[1:], i, deep, full=full)
        case "[":
            return [_one(shape[2:], i, deep - 1, full=full)] if deep else []
        case "{":
            return {f"k{i}": _one(shape[2:], i, deep - 1, full=full)} if deep else {}
        case "b":
            return False
        case _:
            return 1


def _struct(name: str, i: int, deep: int, *, full: bool) -> Any:
    kind = _TYPES[name]
    if "sp" in kind:
        return _SPECIAL.get(name.rsplit(".", 1)[-1])
    out = {}
    for field in kind["f"]:
        shape = field["s"]
        if (full and (deep or shape[:1] in "sil")) or field["n"] in _KEYS:
            out[field["n"]] = _one(shape, i, max(deep - 1, 0), full=full)
    return out


T = TypeVar("T")

Times = dict[str, float]
"""CPU seconds of this thread by the step of the work."""


class Clock:
    """Times steps, of which some may refuse what they are given."""

    def __init__(self) -> None:
        self.times: Times = {}

    def step(self, name: str, work: Callable[[], T], *refusals: type[Exception]) -> T | None:
        """Do some work; return None if it refuses."""
        begun = time.thread_time()
        try:
            return work()
        except refusals:
            return None
        finally:
            self.times[name] = time.thread_time() - begun


def exponents(run: Callable[[int], Times], size: int, tries: int) -> dict[str, float]:
    """By which power of the size each step grows from `size` to four times as much; those below the floor left out.

    Both sizes are tried in turn: a moment at which the machine is slow then falls on either of them.
    """
    large: list[Times] = []
    small: list[Times] = []
    for _ in range(tries):
        large.append(run(4 * size))
        if not any(took > FLOOR for took in large[0].values()):
            return {}
        small.append(run(size))
    most, least = best(large), best(small)
    return {s: math.log(took / max(least[s], 1e-5), 4) for s, took in most.items() if took > FLOOR and s in least}


def best(runs: list[Times]) -> Times:
    """Return the shortest time of each step."""
    return {step: min(times[step] for times in runs if step in times) for step in runs[0]}


def findings(run: Callable[[int], Times], size: int) -> list[str]:
    """Return the steps that grow too fast at every size: a busy machine disturbs some of the times, and a bounded step
    stops growing."""
    suspects = {step for step, power in exponents(run, size, 1).items() if power > EXPONENT}
    for tries, factor in ((3, 1), (3, 2), (2, 4), (5, 2)):
        if not suspects:
            return []
        again = exponents(run, size * factor, tries)
        suspects &= {step for step, power in again.items() if power > EXPONENT}
    return sorted(suspects)
