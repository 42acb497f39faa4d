"""Commands that cannot go on: one line and an exit code."""

from __future__ import annotations

import sys

WRONG = 1
"""The exit code of a command that is done, but something is wrong, missing or unreachable."""
USAGE = 2
"""The exit code of a command that was refused before anything happened."""
INTERRUPTED = 130
"""The exit code after SIGINT."""


class Failure(Exception):
    """An error with its mend."""

    def __init__(self, what: str, mend: str = "", code: int = USAGE) -> None:
        super().__init__(f"{what} ({mend})" if mend else what)
        self.mend = mend
        self.code = code


def report(failure: Failure) -> int:
    """Write the line to the standard error; return the exit code."""
    line = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in str(failure))
    sys.stderr.write(f"hydrofoil: {line}\n")
    return failure.code
