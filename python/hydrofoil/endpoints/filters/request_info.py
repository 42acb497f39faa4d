"""What a request asks for, and the header lines that every answer carries."""

from __future__ import annotations

import itertools
import os
import uuid
from collections.abc import Awaitable, Callable

from hydrofoil.answer import Answer
from hydrofoil.endpoints.context import Context, Filter, Handler
from hydrofoil.request import parse

CACHE_CONTROL = b"Cache-Control: no-cache, private\r\n"


def request_info(constant: Callable[[], bytes]) -> Filter:
    """Give each request its info and id (`WithRequestInfo`, `WithAuditInit`, `WithCacheControl`).

    `constant` gives the lines that are the same in all answers.
    """
    prefix = str(uuid.UUID(bytes=os.urandom(16), version=4))[:24]
    numbers = itertools.count()

    def tell(context: Context, inner: Handler) -> Awaitable[Answer]:
        request = context.request
        audit = request.headers.get("Audit-ID")
        if audit is None or not audit.isprintable() or len(audit) > 64:
            audit = f"{prefix}{next(numbers) & 0xFFFFFFFFFFFF:012x}"
        context.audit_id = audit
        context.common = b"Audit-Id: %s\r\n%s%s" % (audit.encode(), CACHE_CONTROL, constant())
        context.info = parse(request.method, request.raw_path)
        return inner(context)

    return tell
