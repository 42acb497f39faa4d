"""Counts what has been answered."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from time import perf_counter

from hydrofoil.answer import Answer, Outcome
from hydrofoil.endpoints.context import Context, Filter, Handler

Observe = Callable[[Context, int, float], None]
"""Takes a request, its status and how long it took, in seconds."""


def metrics(observe: Observe, watching: Callable[[Context], Callable[[], None]]) -> Filter:
    """Have each request counted at its end, and each watch while it is open; `watching` gives what ends that."""

    def measure(context: Context, inner: Handler) -> Awaitable[Answer]:
        begun = perf_counter()

        def ended(outcome: Outcome) -> None:
            observe(context, outcome.status, perf_counter() - begun)

        context.at_end(ended)
        if context.info.verb == "watch":

            def opened(answer: Answer) -> None:
                if answer.stream is not None and context.served is not None:
                    close = watching(context)
                    context.at_end(lambda _: close())

            context.at_start(opened)
        return inner(context)

    return measure
