"""Requests that depend on feature gates."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from hydrofoil import errors
from hydrofoil.endpoints import params as query
from hydrofoil.endpoints.handlers.list import selector

if TYPE_CHECKING:
    from hydrofoil.endpoints.context import Context
    from hydrofoil.registry.delete_options import DeleteOptions

UNSAFE = "ignoreStoreReadErrorWithClusterBreakingPotential"
"""The option of a deletion that removes an object which cannot be read."""


async def refuse_initial_events(context: Context) -> NoReturn:
    """Refuse a watch that requests initial events: WatchList is off (WA-24)."""

    def readable(options: query.ListOptions) -> None:
        selector(context, options.labels, options.fields)

    query.list_options(context.params, watch=True, selectors=readable, streams=False)
    raise AssertionError("a watch that may begin with the state")


def unsafe_causes(options: DeleteOptions, dry: list[str]) -> list[errors.Cause]:
    """Return the options that are forbidden beside this one (DEL-13; apimachinery `ValidateIgnoreStoreReadError`)."""
    given = {
        "dryRun": bool(dry),
        "propagationPolicy": options.policy is not None,
        "orphanDependents": options.orphan is not None,
        "gracePeriodSeconds": options.grace is not None,
        "preconditions": options.uid is not None or options.revision is not None,
    }
    return [_cause(f"cannot be set together with .{name}") for name, there in given.items() if there]


def refuse_unsafe(context: Context) -> None:
    """Raise ApiError 422 for a deletion of a collection with this option."""
    if not context.unsafe:
        return
    cause = _cause("is not allowed with DELETECOLLECTION, try again after removing the option")
    raise errors.invalid("meta.k8s.io", "DeleteOptions", "", [cause])


def _cause(text: str) -> errors.Cause:
    return ("FieldValueInvalid", f"Invalid value: true: {text}", UNSAFE)
