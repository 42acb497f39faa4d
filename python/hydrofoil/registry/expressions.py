"""Validation by the expressions of a definition, within the share that they have of a turn of the loop."""

from __future__ import annotations

from hydrofoil.apis.catalog import Resource
from hydrofoil.clock import stopwatch
from hydrofoil.engine import Draft, Stored
from hydrofoil.errors import Cause
from hydrofoil.pace.turn import current_turn


def validate_in_turn(
    resource: Resource, draft: Draft, old: Stored | None = None, subresource: str = ""
) -> list[Cause] | None:
    """Validate a draft; None if the rules of its definition take longer than the loop may wait.

    Those of a request may cost ten million units, which are over 0.2 s: they begin anew on a thread. There is always
    time for the shortest ones.
    """
    if not resource.custom:
        return draft.validate(old, subresource)
    share = current_turn().expressions
    begun = stopwatch()
    causes = draft.validate_within(share.left, old, subresource)
    share.spend(stopwatch() - begun)
    return causes
