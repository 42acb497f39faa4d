"""Numbers that are given as such or as a share of another one (apimachinery `pkg/util/intstr`)."""

from __future__ import annotations

IntOrString = int | str


def scaled_value(value: IntOrString, total: int, *, rounds_up: bool) -> int:
    """Return a number, or the share of a total that a text like `25%` means (`GetScaledValueFromIntOrPercent`).

    Raise ValueError for other texts, which the API does not allow.
    """
    if isinstance(value, int):
        return value
    if not value.endswith("%"):
        raise ValueError(f"no percentage: {value}")
    hundredfold = int(value[:-1]) * total
    return -(-hundredfold // 100) if rounds_up else hundredfold // 100
