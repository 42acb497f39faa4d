"""The attributes of a request, and the header lines of every answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from hydrofoil.answer import Answer
from hydrofoil.endpoints.context import Context, Filter, Handler
from hydrofoil.headers import AUDIT_ID
from hydrofoil.request import parse

READS = frozenset(("get", "list"))
CACHE_CONTROL = b"Cache-Control: no-cache, private\r\n"


def request_info(take_id: Callable[[], str]) -> Filter:
    """Set the info and the id of each request (`WithRequestInfo`, `WithAuditInit`, `WithCacheControl`).

    `take_id` returns the id of a request that comes without one.
    """

    def report(context: Context, inner: Handler) -> Awaitable[Answer]:
        audit = context.headers.get(AUDIT_ID, "")
        if not audit or not audit.isprintable() or len(audit) > 64:
            audit = take_id()
        else:
            context.memo = None
        context.audit_id = audit
        context.common = b"Audit-Id: %s\r\n%s" % (audit.encode(), CACHE_CONTROL)
        info = context.info = parse(context.method, context.target)
        if context.memo is not None and (info.verb not in READS or info.subresource):
            context.memo = None
        return inner(context)

    return report
