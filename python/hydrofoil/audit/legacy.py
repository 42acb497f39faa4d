"""Records as text, the form `legacy` of the audit log (apiserver `pkg/audit/format.go`)."""

from __future__ import annotations

from datetime import timedelta

from hydrofoil.audit.event import AuditEvent
from hydrofoil.clock import EPOCH
from hydrofoil.go_text import quote
from hydrofoil.request import User


def names(user: User | None, absent: str) -> str:
    """Return the groups of a user, each quoted."""
    return absent if user is None or not user.groups else ",".join(quote(group) for group in user.groups)


def line(event: AuditEvent, stage: str, code: int) -> bytes:
    """Return an event in one line, without its end."""
    sender, acts = event.sender, event.impersonated
    user, addresses = sender.user, sender.addresses
    received = EPOCH + timedelta(microseconds=event.received // 1000)
    named = user is not None and bool(user.name)
    members = (
        ("id", event.id),
        ("stage", stage),
        ("ip", addresses[0] if addresses else "<unknown>"),
        ("method", event.info.verb),
        ("user", user.name if user is not None and named else "<none>"),
        ("groups", names(user if named else None, "<none>")),
        ("as", acts.name if acts is not None else "<self>"),
        ("asgroups", names(acts, "<lookup>")),
        ("user-agent", sender.agent),
        ("namespace", event.info.scope or "<none>"),
        ("uri", event.uri),
    )
    shown = " ".join(f"{name}={quote(value)}" for name, value in members)
    answer = str(code) if code else "<deferred>"
    return f'{received:%Y-%m-%dT%H:%M:%S.%fZ} AUDIT: {shown} response="{answer}"'.encode(errors="replace")
