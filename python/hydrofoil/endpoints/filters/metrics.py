"""Metrics of answered requests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from hydrofoil.answer import Answer, Outcome, Stream
from hydrofoil.clock import stopwatch
from hydrofoil.endpoints.context import Context, Filter, Handler

Observe = Callable[[Context, int, float], None]
"""Record a request, its status and its duration in seconds."""


def metrics(observe: Observe, watching: Callable[[Context, Stream], Callable[[], None]]) -> Filter:
    """Observe each request at its end, and each watch while it is open; `watching` returns the end of that."""

    def measure(context: Context, inner: Handler) -> Awaitable[Answer]:
        begun = stopwatch()

        def ended(outcome: Outcome) -> None:
            observe(context, outcome.status, stopwatch() - begun)

        context.at_end(ended)
        if context.info.verb == "watch":

            def opened(answer: Answer) -> None:
                if answer.stream is not None and context.served is not None:
                    close = watching(context, answer.stream)
                    context.at_end(lambda _: close())

            context.at_start(opened)
        return inner(context)

    return measure
