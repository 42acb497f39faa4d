"""Memos apart from requests: who has them."""

from __future__ import annotations

import pytest

from hydrofoil.clock import Chance, Clock
from hydrofoil.endpoints import memos as module
from hydrofoil.endpoints.context import Context
from hydrofoil.endpoints.memos import AnswerCounts, Memos


def counts(_: Context) -> AnswerCounts:
    raise AssertionError("no request is kept")


def test_clients_are_known_by_their_certificates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_IDENTITIES", 2)
    memos = Memos(Clock(), Chance(), counts)
    assert memos.identify(()) == memos.identify((b"a",)) == 0
    assert memos.begin(1, b"GET /a HTTP/1.1\r\n\r\n") is None
    memos.open([])
    one, other = memos.identify((b"a",)), memos.identify((b"a", b"b"))
    assert len({memos.identify(()), one, other}) == 3
    assert memos.identify((b"a",)) == one
    # Numbers are not given again: connections that have them may be open.
    third = memos.identify((b"c",))
    assert memos.identify((b"a",)) not in (0, one, other, third, memos.identify(()))


def test_only_reads_have_memos() -> None:
    memos = Memos(Clock(), Chance(), counts)
    memos.open([])
    assert memos.begin(1, b"GET /a HTTP/1.1\r\n\r\n") is not None
    assert memos.begin(1, b"PUT /a HTTP/1.1\r\n\r\n") is None
