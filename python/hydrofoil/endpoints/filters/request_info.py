"""The attributes of a request, and the header lines of every answer."""

from __future__ import annotations

import itertools
from collections.abc import Awaitable

from hydrofoil.answer import Answer
from hydrofoil.clock import Chance
from hydrofoil.endpoints.context import Context, Filter, Handler
from hydrofoil.headers import AUDIT_ID
from hydrofoil.request import parse

CACHE_CONTROL = b"Cache-Control: no-cache, private\r\n"


def request_info(chance: Chance) -> Filter:
    """Set the info and the id of each request (`WithRequestInfo`, `WithAuditInit`, `WithCacheControl`)."""
    prefix = chance.uid()[:24]
    numbers = itertools.count()

    def report(context: Context, inner: Handler) -> Awaitable[Answer]:
        audit = context.headers.get(AUDIT_ID, "")
        if not audit or not audit.isprintable() or len(audit) > 64:
            audit = f"{prefix}{next(numbers) & 0xFFFFFFFFFFFF:012x}"
        context.audit_id = audit
        context.common = b"Audit-Id: %s\r\n%s" % (audit.encode(), CACHE_CONTROL)
        context.info = parse(context.method, context.target)
        return inner(context)

    return report
