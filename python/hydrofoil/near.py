"""The known name that a mistyped one was meant to be."""

from __future__ import annotations

from collections.abc import Iterable


def near(name: str, known: Iterable[str], least: float = 0.6) -> str:
    """Return the known name that is near a wrong one, as a question; empty if there is none.

    `least` is how much of them has to be the same.
    """
    # Only a wrong name needs it.
    from difflib import get_close_matches

    found = get_close_matches(name, list(known), 1, least)
    return f"{found[0]}?" if found else ""


def suggest(name: str, known: Iterable[str]) -> str:
    """Return the same in brackets, to be put behind a message."""
    found = near(name, known)
    return f" ({found})" if found else ""
