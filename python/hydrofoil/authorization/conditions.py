"""Conditions in CEL on which a webhook is asked (apiserver `pkg/authorization/cel`)."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence

from hydrofoil import engine
from hydrofoil.authorization.metrics import Metrics
from hydrofoil.authorization.reviews import Object, encode_json
from hydrofoil.clock import stopwatch
from hydrofoil.errors import aggregate
from hydrofoil.pace.turn import current_turn
from hydrofoil.pool import run

_STRINGS = ("namespace", "verb", "group", "version", "resource", "subresource", "name")


class Condition:
    """A compiled expression over `request`, the spec of a review in v1."""

    def __init__(self, text: str) -> None:
        """Raise ValueError with upstream's words for an expression that is not valid."""
        self.text = text
        self._expression = engine.Expression(text, "request")
        if self._expression.result != "bool":
            raise ValueError(f"must evaluate to bool but got {self._expression.result}")

    def holds(self, variables: bytes, seconds: float | None = None) -> bool | None:
        """Evaluate it; None if it takes longer than that. Raise ValueError."""
        try:
            found = self._expression.evaluate(variables, seconds)
        except engine.EvaluationError as e:
            raise ValueError(f"cel evaluation error: expression '{self.text}' resulted in error: {e}") from None
        return None if found is None else found == b"true"


class Conditions:
    """The conditions of one webhook."""

    def __init__(self, conditions: Sequence[Condition], name: str, metrics: Metrics) -> None:
        self._conditions = tuple(conditions)
        self._name = name
        self._metrics = metrics

    def hold(self, review: Object) -> bool | Awaitable[bool]:
        """Report whether all hold; one that does not wins over errors of others. Raise ValueError.

        The result is an awaitable if they take longer than the loop may wait: their costs do not bound their time.
        """
        if not self._conditions:
            return True
        begun = stopwatch()
        share = current_turn().expressions
        held = self._held(review, share.left)
        share.spend(stopwatch() - begun)
        return run(self._evaluate, review, pooled=True) if held is None else held

    def _evaluate(self, review: Object) -> bool:
        held = self._held(review, None)
        assert held is not None, "without a limit there is a result"
        return held

    def _held(self, review: Object, seconds: float | None) -> bool | None:
        begun = stopwatch()
        problems: list[str] = []
        excluded = False
        given = variables(review)
        for condition in self._conditions:
            left = None if seconds is None else seconds - (stopwatch() - begun)
            try:
                held = condition.holds(given, left)
            except ValueError as e:
                problems.append(str(e))
                continue
            if held is None:
                return None
            if excluded := not held:
                break
        self._metrics.matched(self._name, stopwatch() - begun, excluded=excluded, failed=bool(problems))
        if excluded:
            return False
        if problems:
            raise ValueError(aggregate(problems))
        return True


def variables(review: Object) -> bytes:
    """Return the variable of expressions as JSON: texts that are empty are there all the same."""
    request: Object = {
        "user": review.get("user", ""),
        "groups": review.get("groups", []),
        "uid": review.get("uid", ""),
        "extra": review.get("extra", {}),
    }
    if (given := review.get("resourceAttributes")) is not None:
        selectors = {key: given[key] for key in ("fieldSelector", "labelSelector") if key in given}
        request["resourceAttributes"] = {key: given.get(key, "") for key in _STRINGS} | selectors
    if (path := review.get("nonResourceAttributes")) is not None:
        request["nonResourceAttributes"] = {"path": path.get("path", ""), "verb": path.get("verb", "")}
    return encode_json(request)
