"""Memos of requests, where a server may have them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from hydrofoil.server.chain import MEMORABLE, Place
from hydrofoil.server.part import Core, Part
from hydrofoil.watch.follow import Followed


def memos(
    core: Core,
    places: Collection[Place],
    rights: Callable[[], Sequence[Followed[Any]]],
    followed: Sequence[Followed[Any]],
) -> Part[None]:
    """Return the begin of memos, behind a chain with filters at these places.

    They rest on the states that routing depends on, `followed`, and on those of `rights`, which are asked at the start.
    A server has none if a filter needs each request, if there are no priority levels, and over a log of another
    process, which its view may be behind.
    """
    config = core.config
    # A worker brings its view up to the owner's before it looks for a memo.
    direct = (core.storage.direct or core.worker is not None) and config.enable_priority_and_fairness
    if not (config.request_memos and direct and frozenset(places) <= MEMORABLE):
        return Part(feature=None)

    async def start() -> None:
        core.listeners.append(core.memos.forget)
        core.memos.open([*rights(), *followed], core.storage.catch_up)

    return Part(feature=None, start=start)
