"""Levels and stages of audit events (apiserver `pkg/apis/audit/types.go`)."""

from __future__ import annotations

from msgspec import Struct

LEVELS = ("None", "Metadata", "Request", "RequestResponse")
NONE, METADATA, REQUEST, RESPONSE = range(4)
"""The levels by number: each records more than the one before."""
RECEIVED, STARTED, COMPLETE, PANIC = STAGES = ("RequestReceived", "ResponseStarted", "ResponseComplete", "Panic")


class Chosen(Struct, frozen=True):
    """The way in which a policy records a request."""

    level: int
    omitted: frozenset[str] = frozenset()
    """The stages without an event."""
    omits_managed: bool = False
    """Whether objects are recorded without their managed fields."""


UNRECORDED = Chosen(NONE)
