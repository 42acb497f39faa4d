"""The division of seats among priority levels within their bounds (apiserver `pkg/util/flowcontrol/conc_alloc.go`)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

LEAST = 0.001
"""The least target: a smaller one counts as this."""


class Claim(Struct, frozen=True):
    """The seats that a level should have, and their bounds: `lower <= target`, `lower <= upper`."""

    target: float
    lower: float
    upper: float

    def at(self, fraction: float) -> float:
        """Return the seats where each level has this fraction of its target."""
        return min(max(fraction * max(self.target, LEAST), self.lower), self.upper)


def allocate(total: float, claims: Sequence[Claim]) -> tuple[list[float], float]:
    """Return the seats of each level, and the common fraction of targets that no bound replaces.

    Raise ValueError if the bounds do not allow the total.
    """
    if sum(c.lower for c in claims) > total + 1e-7 or sum(c.upper for c in claims) < total - 1e-7:
        raise ValueError("the bounds of priority levels do not allow the seats of the server")
    # The sum grows with the fraction, in straight lines between the fractions at which a bound begins or ends.
    marks = sorted({0.0, *(bound / max(c.target, LEAST) for c in claims for bound in (c.lower, c.upper))})
    before, below = 0.0, sum(c.at(0.0) for c in claims)
    for mark in marks:
        here = sum(c.at(mark) for c in claims)
        if here >= total:
            share = (total - below) / (here - below) if here > below else 1.0
            fraction = before + (mark - before) * share
            return [c.at(fraction) for c in claims], fraction
        before, below = mark, here
    return [c.at(before) for c in claims], before
