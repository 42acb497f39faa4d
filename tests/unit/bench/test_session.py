"""A server, and the namespace and label of a run."""

from __future__ import annotations

import os
import signal
from typing import Any

import pytest

from hydrofoil.bench.failure import INTERRUPTED
from hydrofoil.bench.options import LoadOptions
from hydrofoil.bench.session import Session, interruptible


def test_the_second_signal_ends_at_once_also_during_the_removal(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[int] = []
    monkeypatch.setattr(os, "_exit", ended.append)
    target: Any = None
    session = Session(target, LoadOptions(), "run")
    with interruptible(session):
        signal.raise_signal(signal.SIGINT)
        assert session.interrupted and ended == []
        # As the workspace does while it removes what was made.
        session.interrupted = False
        signal.raise_signal(signal.SIGINT)
    assert ended == [INTERRUPTED]
