"""Audit events of tests."""

from __future__ import annotations

from typing import Any

from hydrofoil.audit.event import AuditEvent, begin_event, sender_of
from hydrofoil.audit.level import METADATA, Chosen
from hydrofoil.request import User, parse

USER = User("ann", "7", ("g",), {"scopes": ("a", "b")})
RECEIVED_AT = 1_767_323_045_000_006_789
"""2026-01-02T03:04:05.000006789Z, in nanoseconds."""


def event(target: str = "/api/v1/namespaces/n/pods/p", method: str = "GET", **given: Any) -> AuditEvent:
    chosen = Chosen(given.get("level", METADATA), omits_managed=given.get("omits_managed", False))
    user = given.get("user", USER)
    sender = sender_of(user, given.get("addresses", ("192.0.2.1",)), given.get("agent", ""))
    return begin_event(given.get("id", "a"), chosen, parse(method, target), sender, target, RECEIVED_AT)
