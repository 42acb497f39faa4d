"""The order of a request: a list that one reads top down (apiserver `pkg/server/config.go`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce

from hydrofoil.endpoints.context import Filter, Handler
from hydrofoil.endpoints.filters.deadline import deadline
from hydrofoil.endpoints.filters.in_flight import InFlight
from hydrofoil.endpoints.filters.metrics import metrics
from hydrofoil.endpoints.filters.recover import recover
from hydrofoil.endpoints.filters.request_info import request_info
from hydrofoil.server.metrics import Metrics


@dataclass(slots=True)
class Stages:
    """What the filters of one server work with."""

    constant: Callable[[], bytes]
    """The header lines that are the same in all answers."""
    request_timeout: float
    """How long an answer may take, in seconds."""
    inflight: InFlight
    metrics: Metrics
    route: Handler


def chain(stages: Stages, *, outer: Sequence[Filter] = (), inner: Sequence[Filter] = ()) -> Handler:
    """The handler of every request, in the order of `DefaultBuildHandlerChain`.

    `outer` sees a request before all others, `inner` when it is known to be allowed.
    """
    filters: Sequence[Filter] = (
        recover,
        *outer,
        request_info(stages.constant),
        deadline(stages.request_timeout),
        stages.inflight.filter,
        *inner,
        metrics(stages.metrics.answered, stages.metrics.watching),
    )
    return reduce(around, reversed(filters), stages.route)


def around(inner: Handler, outer: Filter) -> Handler:
    """A handler that goes through a filter first."""
    return lambda context: outer(context, inner)
