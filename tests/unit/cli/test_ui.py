"""The start of the page in a browser."""

from __future__ import annotations

import queue
import stat
import webbrowser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from hydrofoil.cli.ui.command import start_page

URL = "http://127.0.0.1:1/ui/#key=secret"


def test_the_key_is_no_word_of_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: queue.Queue[str] = queue.Queue()
    monkeypatch.setattr(webbrowser, "open", opened.put)
    with start_page(URL):
        address = opened.get(timeout=10)
        file = Path(unquote(urlsplit(address).path))
        assert "secret" not in address and URL in file.read_text()
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert not file.exists()
