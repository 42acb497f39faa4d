"""Steps on owners in other versions, which a webhook converts between their attempts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from hydrofoil.apis.catalog import Converter
from hydrofoil.engine import Conversions, PendingError
from hydrofoil.errors import ApiError
from hydrofoil.pool import run

T = TypeVar("T")


async def attempted(webhook: Converter, step: Callable[[Conversions | None], T], *, pooled: bool = False) -> T:
    """Return the result of a step, made again after each conversion that it lacks. Raise what the step raises.

    The states of the object that are converted, and their versions, depend on the results of earlier conversions
    (structured-merge-diff `merge/update.go`).
    """
    known: Conversions | None = None
    while True:
        try:
            return await run(step, known, pooled=pooled)
        except PendingError as e:
            given, api_version = e.object, e.api_version
        known = known or Conversions()
        try:
            (made,) = await webhook.convert([given], api_version)
        except ApiError as e:
            known.add(given, api_version, None, e.message)
        else:
            known.add(given, api_version, made)
