"""Which requests services answer."""

from __future__ import annotations

from typing import Any, cast

from hydrofoil.aggregation.passing_on import PassingOn
from hydrofoil.aggregation.registrations import Registrations
from hydrofoil.outbound.trust import Unreachable
from hydrofoil.request import parse
from tests.contract.requests import requested
from tests.unit.aggregation.services import SERVICE, stored


class Nowhere:
    """Services that are not to be found."""

    def locate(self, _: object) -> str:
        """Find nothing."""
        raise Unreachable("no service")


class Published:
    """Documents of one group version."""

    def openapi_of(self, _: object) -> dict[str, Any]:
        """Return one document."""
        return {"apis/e.com/v1": {}}


def passing(*services: Any) -> PassingOn:
    """Return the passing on to services."""
    table = Registrations()
    table.replace(services)
    return PassingOn(table, cast(Any, Published()), cast(Any, Nowhere()))


def test_a_group_version_goes_to_its_service_and_nothing_else() -> None:
    found = passing(stored("v1", "e.com", SERVICE))
    for path in ("/apis/e.com/v1", "/apis/e.com/v1/things/a", "/openapi/v3/apis/e.com/v1"):
        assert found.handler(parse("GET", path)) is not None, path
    for path in (
        "/apis/e.com",
        "/apis/e.com/v2/things",
        "/apis",
        "/api/v1/pods",
        "/openapi/v2",
        "/openapi/v3/apis/f.com/v1",
    ):
        assert found.handler(parse("GET", path)) is None, path
    assert passing().handler(parse("GET", "/apis/e.com/v1")) is None
    assert passing(stored("v1", "e.com")).handler(parse("GET", "/apis/e.com/v1")) is None


async def test_a_service_that_is_not_available_is_503() -> None:
    found = passing(stored("v1", "e.com", SERVICE))
    handler = found.handler(parse("GET", "/apis/e.com/v1"))
    assert handler is not None
    answer = await handler(requested("GET", "/apis/e.com/v1"))
    assert (answer.status, answer.body) == (503, b"service unavailable\n")
