"""A log line of each answered request."""

from __future__ import annotations

import logging
from collections.abc import Awaitable

from hydrofoil.answer import Answer, Outcome
from hydrofoil.clock import stopwatch
from hydrofoil.endpoints.context import Context, Handler

LOG = logging.getLogger("hydrofoil")
LEVEL = 3
"""The verbosity from which requests are logged (apiserver `pkg/server/httplog`)."""


def log(context: Context, inner: Handler) -> Awaitable[Answer]:
    """Log method, target, user, status and duration at the end of a request, never a header (`WithHTTPLogging`)."""
    begun = stopwatch()

    def ended(outcome: Outcome) -> None:
        took = {"status": outcome.status, "latency": f"{(stopwatch() - begun) * 1000:.3f}ms"}
        LOG.info("HTTP", extra={"fields": context.fields() | took})

    context.at_end(ended)
    return inner(context)
