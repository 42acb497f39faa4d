"""Quantities of resources (apimachinery `pkg/api/resource`)."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache

QUANTITY = re.compile(r"([+-]?[0-9.]+)(?:([eE][+-]?[0-9]+)|([numkMGTPE]|[KMGTPE]i)?)")
SUFFIXES = {
    **{suffix: Decimal(10) ** (3 * power) for power, suffix in enumerate(("n", "u", "m", "", "k", "M"), -3)},
    **{suffix: Decimal(10) ** (3 * power) for power, suffix in enumerate("GTPE", 3)},
    **{suffix + "i": Decimal(1 << 10 * power) for power, suffix in enumerate("KMGTPE", 1)},
}


@lru_cache(4096)
def parse_quantity(text: str) -> Decimal:
    """Return a quantity, which the API has validated. Raise ValueError."""
    match = QUANTITY.fullmatch(text)
    if match is None:
        raise ValueError(f"no quantity: {text}")
    number, exponent, suffix = match.groups()
    return Decimal(number + (exponent or "")) * SUFFIXES[suffix or ""]


def _ceiling(number: Decimal) -> int:
    whole = int(number)
    return whole + (number > whole)


@lru_cache(4096)
def parse_amount(resource: str, text: str) -> int:
    """Return the amount of a resource that is compared: thousandths of CPU, whole units of others, rounded up."""
    quantity = parse_quantity(text)
    return _ceiling(quantity * 1000 if resource == "cpu" else quantity)
