"""The files of the page of a server: open to everybody, since they hold no data."""

from __future__ import annotations

from collections.abc import Awaitable

from hydrofoil.answer import Answer
from hydrofoil.endpoints.context import Context, Filter, Handler
from hydrofoil.headers import ACCEPT_ENCODING
from hydrofoil.ui.page import ROOT, Page


def page(found: Page) -> Filter:
    """Answer requests for files of the page; all others pass."""

    def decide(context: Context, inner: Handler) -> Awaitable[Answer]:
        path = context.info.path
        if path.startswith(ROOT):
            headers = context.headers
            tags, encodings = headers.get("If-None-Match", ""), headers.get(ACCEPT_ENCODING, "")
            answer = found.answer(context.method, path, tags, encodings)
            if answer is not None:
                return _return(answer)
        return inner(context)

    return decide


async def _return(answer: Answer) -> Answer:
    return answer
