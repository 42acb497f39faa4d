"""The filter chain of a request, to be read top down (apiserver `pkg/server/config.go`)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING

from msgspec import Struct

from hydrofoil.authorization.impersonation import Impersonation
from hydrofoil.clock import Chance
from hydrofoil.endpoints.context import Filter, Handler
from hydrofoil.endpoints.filters.authentication import Attempts, Login, authentication
from hydrofoil.endpoints.filters.authorization import Decisions, authorization
from hydrofoil.endpoints.filters.deadline import deadline
from hydrofoil.endpoints.filters.impersonation import impersonation
from hydrofoil.endpoints.filters.metrics import metrics
from hydrofoil.endpoints.filters.recover import recover
from hydrofoil.endpoints.filters.request_info import request_info
from hydrofoil.request import Authorizer
from hydrofoil.server.metrics import Metrics

if TYPE_CHECKING:
    # Most servers do not audit or trace, and start without their modules.
    from hydrofoil.audit.service import Audit
    from hydrofoil.tracing.service import Tracing


class Stages(Struct):
    """The parts that the filters of one server use."""

    chance: Chance
    request_timeout: float
    """The time limit of an answer, in seconds."""
    limit: Filter
    """The limit on requests in flight."""
    metrics: Metrics
    login: Login
    impersonation: Impersonation
    authorizer: Authorizer
    others: Authorizer
    """The decision on users that callers act as."""
    route: Handler
    audit: Audit | None = None
    attempts: Attempts | None = None
    decisions: Decisions | None = None
    tracing: Tracing | None = None
    asks: bool = False
    """Whether the truth is in another process, which answers may wait for."""


def chain(stages: Stages, *, outer: Sequence[Filter] = (), inner: Sequence[Filter] = ()) -> Handler:
    """Return the handler of every request, in the order of `DefaultBuildHandlerChain`.

    `outer` filters run before all others, `inner` ones once the request is known to be allowed.
    """
    filters: Sequence[Filter] = (
        recover,
        *outer,
        request_info(stages.chance),
        deadline(stages.request_timeout, stages.metrics.terminated, asks=stages.asks),
        *identifying_filters(stages),
        *tracing_filters(stages),
        impersonation(stages.impersonation),
        stages.limit,
        authorization(stages.authorizer, stages.others, stages.decisions),
        *inner,
        metrics(stages.metrics.answered, stages.metrics.watching),
    )
    return reduce(around, reversed(filters), stages.route)


def identifying_filters(stages: Stages) -> Sequence[Filter]:
    """Return the filters that find the user of a request, and record it where that is configured."""
    if stages.audit is None:
        return (authentication(stages.login, None, stages.attempts),)
    from hydrofoil.endpoints.filters.audit import audit, unauthenticated

    return authentication(stages.login, unauthenticated(stages.audit), stages.attempts), audit(stages.audit)


def tracing_filters(stages: Stages) -> Sequence[Filter]:
    """Return the filter that traces requests, where that is configured."""
    if stages.tracing is None:
        return ()
    from hydrofoil.endpoints.filters.tracing import tracing

    return (tracing(stages.tracing),)


def around(inner: Handler, outer: Filter) -> Handler:
    """Return a handler that passes a filter first."""
    return lambda context: outer(context, inner)
