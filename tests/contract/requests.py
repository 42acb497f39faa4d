"""Requests without a connection, for code that reads only method, target and headers."""

from __future__ import annotations

from typing import Any, cast

from aiohttp.test_utils import make_mocked_request

from hydrofoil.apis.gates import Gates
from hydrofoil.clock import Chance, Clock
from hydrofoil.endpoints.context import Context, Parts
from hydrofoil.request import ALWAYS_ALLOW

GATES = Gates({})


def parts(hub: Any = None, seconds: float = 60.0) -> Parts:
    """Return the shared parts of the requests of a server without objects."""
    nothing = cast(Any, None)
    return Parts(nothing, nothing, hub, GATES, Clock(), Chance(), seconds, nothing, ALWAYS_ALLOW)


def requested(method: str, target: str, headers: dict[str, str] | None = None) -> Context:
    """Return the context of a request on a server that holds nothing."""
    return Context(make_mocked_request(method, target, headers=headers), parts())
