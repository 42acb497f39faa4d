"""The page of a server; only servers that show it load this module."""

from __future__ import annotations

import orjson

from hydrofoil.answer import Answer
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.context import Context
from hydrofoil.endpoints.filters.page import page
from hydrofoil.endpoints.route import missing
from hydrofoil.errors import method_not_allowed
from hydrofoil.server.chain import Place
from hydrofoil.server.part import Core, Part
from hydrofoil.server.parts.limits import Limits
from hydrofoil.server.stats import Stats
from hydrofoil.ui.page import STATS, Page

JSON = "application/json"


def ui(core: Core, limits: Limits) -> Part[None]:
    """Return the files of the page, and the figures that it shows.

    The figures are authorized as every path without a resource is: of the default roles, only that of the
    administrator has them.
    """
    stats = Stats(core, limits)

    async def answer(context: Context) -> Answer:
        if context.info.path.rstrip("/") != STATS:
            return await missing(context)
        if context.method not in ("GET", "HEAD"):
            raise method_not_allowed()
        return respond.answer(context, 200, orjson.dumps(await stats.read()), JSON)

    return Part(
        feature=None,
        start=stats.start,
        close=stats.close,
        filters={Place.PAGE: page(Page())},
        paths={"/ui/": answer},
    )
