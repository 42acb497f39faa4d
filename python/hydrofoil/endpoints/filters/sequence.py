"""Requests and controllers one after the other, so that a run repeats with a seed."""

from __future__ import annotations

from collections.abc import Awaitable

from hydrofoil.answer import Answer
from hydrofoil.controls.controls import Controls
from hydrofoil.endpoints.context import Context, Filter, Handler


def in_sequence(controls: Controls) -> Filter:
    """Let controllers finish their work on earlier requests before the next one is answered."""

    def take(context: Context, inner: Handler) -> Awaitable[Answer]:
        return _answer(context, inner, controls) if controls.seeded else inner(context)

    return take


async def _answer(context: Context, inner: Handler, controls: Controls) -> Answer:
    await controls.settle()
    return await inner(context)
