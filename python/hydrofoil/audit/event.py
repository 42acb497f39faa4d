"""The audit record of one request."""

from __future__ import annotations

import logging

LOG = logging.getLogger("hydrofoil")


class AuditEvent:
    """The record of one request, filled on its way (apiserver `pkg/audit/context.go`)."""

    __slots__ = ("annotations", "id")

    def __init__(self, id: str) -> None:
        self.id = id
        self.annotations: dict[str, str] = {}

    def annotate(self, key: str, value: str) -> None:
        """Add an annotation; the first value of a key stays."""
        found = self.annotations.setdefault(key, value)
        if found != value:
            LOG.warning("an audit annotation was set twice", extra={"fields": {"auditID": self.id, "key": key}})
