"""What a step says of a collection that was followed: bounds, orders, moments that must not come, counts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.conformance.replay.life.following import View
from tests.conformance.replay.life.placeholders import shorten
from tests.conformance.replay.paths import Object

Moments = list[tuple[str, dict[str, Object]]]


def judge(step: Object, moments: Moments, names: dict[str, str]) -> Object:
    """Return which of the statements hold, why others do not, and how many moments match the counts."""
    words = [shorten(what) for what, _ in moments]
    for real, placeholder in names.items():
        words = [text.replace(real, placeholder) for text in words]
    faults = dict(_faults(step, moments, words))
    counts = {
        name: sum(bool(re.fullmatch(wanted, text)) for text in words) for name, wanted in step.get("count", {}).items()
    }
    why = {name: fault for name, fault in faults.items() if fault}
    checks = {name: not fault for name, fault in faults.items()}
    return {"checks": checks, "count": counts, **({"why": why} if why else {})}


def _faults(step: Object, moments: Moments, words: list[str]) -> Iterator[tuple[str, str]]:
    """Yield each statement with what is wrong with it; empty if nothing is."""
    for bound in step.get("bounds", []):
        yield bound, _broken(bound, moments, words)
    orders = step.get("order", [])
    for order in orders if orders and isinstance(orders[0], list) else [orders] if orders else []:
        yield " < ".join(order), _missing(order, words)
    for never in step.get("never", []):
        hits = [text for text in words if re.fullmatch(never, text)]
        yield f"never {never}", f"seen: {hits[:3]}" if hits else ""


def _broken(bound: str, moments: Moments, words: list[str]) -> str:
    """Return where a bound does not hold. It is an expression of the scenario over the counters of a view."""
    code = compile(bound, "<bound>", "eval")
    places = [n for n, (_, state) in enumerate(moments) if not eval(code, {"__builtins__": {}}, View(state).names)]
    if not places:
        return ""
    first = places[0]
    return f"broken at {len(places)} of {len(moments)} moments, first after {words[max(0, first - 3) : first + 1]}"


def _missing(order: list[str], words: list[str]) -> str:
    """Return which moment of an order does not come after the one before it."""
    at = 0
    for wanted in order:
        place = next((n for n in range(at, len(words)) if re.fullmatch(wanted, words[n])), None)
        if place is None:
            return f"no {wanted!r} after {words[max(0, at - 1)]!r} in {words}"
        at = place + 1
    return ""
