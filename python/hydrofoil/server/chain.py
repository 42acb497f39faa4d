"""The filter chain of a request (apiserver `pkg/server/config.go`, `DefaultBuildHandlerChain`)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum, auto
from functools import reduce

from hydrofoil.endpoints.context import Filter, Handler


class Place(IntEnum):
    """The places of filters, to be read top down: a request passes them in this order, its answer in the reverse."""

    RECOVERY = auto()
    """A fault of any other filter is an answer."""
    LOG = auto()
    JOURNAL = auto()
    """The records of a test have every request, refused ones too."""
    SEQUENCE = auto()
    """With a seed, requests are answered one by one."""
    REQUEST_INFO = auto()
    """What the path asks for: all that follow decide by it."""
    OUTAGE = auto()
    """A server that is down by a fault of a test answers nothing, and its record says what was asked for."""
    PAGE = auto()
    """The files of the page are open: who has no credentials yet is asked for them there."""
    DEADLINE = auto()
    AUTHENTICATION = auto()
    AUDIT = auto()
    """A record has the user, so it begins behind authentication; a refusal there is recorded by that filter."""
    TRACING = auto()
    IMPERSONATION = auto()
    """Seats are those of the user that a caller acts as."""
    LIMIT = auto()
    """Authorization may ask a webhook: a request that waits for it holds a seat."""
    AUTHORIZATION = auto()
    READ_ONLY = auto()
    """Who may not write at all is told so first."""
    FAULTS = auto()
    """A test's faults hit what would have been answered."""
    METRICS = auto()
    """Only what reaches a handler is counted here; refusals are counted by those that refuse."""


MEMORABLE = frozenset(
    (
        Place.RECOVERY,
        Place.REQUEST_INFO,
        Place.PAGE,
        Place.DEADLINE,
        Place.AUTHENTICATION,
        Place.IMPERSONATION,
        Place.LIMIT,
        Place.AUTHORIZATION,
        Place.READ_ONLY,
        Place.METRICS,
    )
)
"""The places whose filters say what later requests may rest on. A server with any other keeps no memos: its records,
traces and faults need each request (`endpoints/memos.py`)."""


def chain(filters: Mapping[Place, Filter], route: Handler) -> Handler:
    """Return the handler of every request."""
    return reduce(wrap, (filters[place] for place in sorted(filters, reverse=True)), route)


def wrap(inner: Handler, outer: Filter) -> Handler:
    """Return a handler that passes a filter first."""
    return lambda context: outer(context, inner)
