"""`hydrofoil ui` in a process of its own."""

from __future__ import annotations

import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from tests.conftest import command

LINE = re.compile(r"ui on (http://127\.0\.0\.1:\d+/ui/)#key=([\w-]{32,})\n")


@contextmanager
def gateway(*flags: str) -> Iterator[tuple[str, str]]:
    """Yield the address of the page, without its key, and the key.

    It ends by a signal, with code 0 and without a word.
    """
    line = command("ui", "--no-open", *flags)
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None and running.stderr is not None
        try:
            found = LINE.fullmatch(running.stdout.readline())
            assert found
            yield found[1], found[2]
            running.send_signal(signal.SIGTERM)
            assert (running.stderr.read(), running.wait(10)) == ("", 0)
        finally:
            running.kill()
