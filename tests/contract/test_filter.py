"""The promises of the chain: which filter sees a request when, and that a refusal is an answer like any other."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import Any

from hydrofoil.answer import Answer, Outcome
from hydrofoil.authorization.impersonation import Impersonation
from hydrofoil.clock import Chance
from hydrofoil.endpoints.context import Context, Filter, Handler
from hydrofoil.endpoints.filters.authentication import authentication
from hydrofoil.endpoints.filters.authorization import authorization
from hydrofoil.endpoints.filters.deadline import deadline
from hydrofoil.endpoints.filters.impersonation import impersonation
from hydrofoil.endpoints.filters.in_flight import InFlight
from hydrofoil.endpoints.filters.metrics import metrics as count
from hydrofoil.endpoints.filters.recover import recover
from hydrofoil.endpoints.filters.request_info import request_info
from hydrofoil.request import ADMIN, ALWAYS_ALLOW, parse
from hydrofoil.server.chain import Place, chain
from hydrofoil.server.metrics import Metrics
from tests.contract.requests import requested


def limits(reading: int = 400) -> InFlight:
    return InFlight(reading, 0, lambda _: None)


def filters(places: InFlight | None = None, more: Mapping[Place, Filter] | None = None) -> dict[Place, Filter]:
    """Return the filters of a server in which everyone may do everything."""
    metrics = Metrics()
    return {
        Place.RECOVERY: recover,
        Place.REQUEST_INFO: request_info(lambda: Chance().uid()),
        Place.DEADLINE: deadline(60.0, metrics.terminated),
        Place.AUTHENTICATION: authentication(lambda _: ADMIN, None, metrics.attempts),
        Place.IMPERSONATION: impersonation(Impersonation(ALWAYS_ALLOW)),
        Place.LIMIT: (places or limits()).filter,
        Place.AUTHORIZATION: authorization(ALWAYS_ALLOW, ALWAYS_ALLOW, metrics.decisions),
        Place.METRICS: count(metrics.answered, metrics.watching),
        **(more or {}),
    }


async def fine(_: Context) -> Answer:
    return Answer(200, b"")


async def test_outer_filters_come_before_the_info_and_inner_ones_after_the_refusals() -> None:
    seen: list[tuple[str, bool]] = []

    def outer(context: Context, inner: Handler) -> Awaitable[Answer]:
        seen.append(("outer", context.info.resourceful))
        return inner(context)

    def within(context: Context, inner: Handler) -> Awaitable[Answer]:
        seen.append(("inner", context.info.resourceful))
        return inner(context)

    context = requested("GET", "/api/v1/pods")
    found = await chain(filters(more={Place.FAULTS: within, Place.JOURNAL: outer}), fine)(context)
    assert found.status == 200
    assert seen == [("outer", False), ("inner", True)]


async def test_a_refusal_is_an_answer_too() -> None:
    """A filter outside the one that refuses reads it as any other answer; nothing was written."""
    seen: list[int] = []

    async def journal(context: Context, inner: Handler) -> Answer:
        answer = await inner(context)
        seen.append(answer.status)
        return answer

    full = limits(1)
    full.reading.taken = 1
    context = requested("GET", "/api/v1/pods")
    answer = await chain(filters(full, {Place.JOURNAL: journal}), fine)(context)
    assert seen == [answer.status] == [429]


async def test_what_is_raised_is_a_fault() -> None:
    async def broken(_: Context) -> Answer:
        raise RuntimeError("a fault")

    answer = await chain(filters(), broken)(requested("GET", "/api/v1/pods"))
    assert answer.status == 500
    assert b"a fault" not in answer.head


async def test_refusals_come_before_the_route_is_asked() -> None:
    """400 for an invalid timeout precedes 404 and 405, which only the catalog knows."""

    async def unasked(_: Context) -> Answer:
        raise AssertionError("the route was asked")

    answer = await chain(filters(), unasked)(requested("PUT", "/api/v1/nothing/of/this?timeout=soon"))
    assert answer.status == 400


async def test_a_place_is_given_back_when_the_request_has_ended() -> None:
    """Not when the answer was made: a stream holds its place until its last byte."""
    some = limits()
    context = requested("GET", "/api/v1/pods")
    await chain(filters(some), fine)(context)
    assert some.reading.taken == 1
    context.ended(200, True)
    context.ended(500, False)
    assert some.reading.taken == 0


async def test_the_end_is_told_once_and_to_all() -> None:
    reported: list[Any] = []
    context = requested("GET", "/livez")

    def failing(_: Outcome) -> None:
        reported.append("failing")
        raise RuntimeError("a hook")

    context.at_end(reported.append)
    context.at_end(failing)
    context.ended(200, True)
    context.ended(500, False)
    assert reported == ["failing", Outcome(200, True)]


def test_the_info_needs_no_catalog() -> None:
    """Verb and resource-or-not come from method and URL alone, so that refusals come before 404 and 405."""
    info = parse("GET", "/apis/nobody.example/v7/namespaces/n/things?watch=true&labelSelector=a%3Db")
    assert (info.verb, info.resourceful, info.group, info.resource) == ("watch", True, "nobody.example", "things")
