"""Log lines on what fails again and again."""

from __future__ import annotations

import logging

import pytest

from hydrofoil.complaints import EVERY, Complaint


def test_a_line_is_written_at_once_and_then_once_in_some_seconds(caplog: pytest.LogCaptureFixture) -> None:
    now = 100.0
    disk = Complaint("a write was not kept: {}", lambda: now)
    with caplog.at_level(logging.WARNING, "hydrofoil"):
        for _ in range(7):
            disk.say("no space left on device")
        now += EVERY
        disk.say("no space left on device")
    lines = [record.getMessage() for record in caplog.records]
    line = "a write was not kept: no space left on device"
    assert lines == [line, f"{line} (6 more since the last such line)"]
