"""The path by which an administrator stores objects as they were, and the refusal of all writes."""

from __future__ import annotations

from urllib.parse import parse_qsl

import orjson

from hydrofoil.answer import Answer
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.context import Context, Filter, Handler
from hydrofoil.endpoints.filters.read_only import read_only
from hydrofoil.endpoints.route import missing
from hydrofoil.errors import ApiError, bad_request, method_not_allowed
from hydrofoil.server.chain import Place
from hydrofoil.server.loading import CONFLICTS, ObjectLoader
from hydrofoil.server.part import Core, Part

ROOT = "/hydrofoil/"
PATH = "/hydrofoil/v1/import"
JSON = "application/json"


def dumps(core: Core, others: Handler | None) -> Part[None]:
    """Return the path; `others` answers the other paths below the same root.

    It is authorized as every path without a resource is: of the default roles, only that of the administrator has it.
    """
    loader = ObjectLoader(core.registry)
    rest = others or missing

    async def answer(context: Context) -> Answer:
        if context.info.path.rstrip("/") != PATH:
            return await rest(context)
        try:
            return respond.answer(context, 200, orjson.dumps(await load(context)), JSON)
        except ApiError as e:
            return respond.answer_error(context, e)

    async def load(context: Context) -> dict[str, object]:
        if context.headers.get("Origin", ""):
            raise ApiError(403, "Forbidden", "web pages may not import objects", {})
        if context.method == "GET":
            return {"onConflict": CONFLICTS}
        if context.method != "POST":
            raise method_not_allowed()
        on_conflict = dict(parse_qsl(context.info.query)).get("onConflict", CONFLICTS[0])
        if on_conflict not in CONFLICTS:
            raise bad_request(f"onConflict {on_conflict!r} is none of {', '.join(CONFLICTS)}")
        return {"items": await loader.load(await context.body(), on_conflict)}

    filters: dict[Place, Filter] = {Place.READ_ONLY: read_only()} if core.config.read_only else {}
    return Part(feature=None, paths={ROOT: answer}, filters=filters)
