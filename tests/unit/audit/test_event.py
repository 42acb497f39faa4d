"""The audit record of one request."""

from __future__ import annotations

import logging

import pytest

from hydrofoil.audit.event import AuditEvent


def test_the_first_value_of_an_annotation_stays(caplog: pytest.LogCaptureFixture) -> None:
    event = AuditEvent("a")
    event.annotate("k", "one")
    event.annotate("k", "one")
    assert not caplog.records
    with caplog.at_level(logging.WARNING):
        event.annotate("k", "two")
    assert event.annotations == {"k": "one"}
    assert "set twice" in caplog.text
