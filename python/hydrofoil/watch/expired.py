"""410 Gone: the history that a list or watch needs is no longer kept (apiserver `pkg/storage/etcd3/errors.go`)."""

from __future__ import annotations

from hydrofoil import engine
from hydrofoil.errors import ApiError, gone

TOKEN = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without "
    "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. "
    "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or "
    "deleted between the time the first chunk was returned and now may show up in the list."
)


def continue_token(start: str) -> ApiError:
    """Return the 410 of a continue token, with one that continues at `start` in the present state (PG-10)."""
    return gone(TOKEN, engine.encode_continue(-1, start))


def list_version() -> ApiError:
    """Return the 410 of a list at an exact resource version."""
    return gone("The resourceVersion for the provided list is too old.")


def watch_start(asked: int, oldest: int) -> ApiError:
    """Return the 410 of a watch from a resource version before the oldest event."""
    return gone(f"too old resource version: {asked} ({oldest})")


def history_overrun() -> ApiError:
    """Return the 410 of a watch whose reader was too slow for the history."""
    return gone("too old resource version")
