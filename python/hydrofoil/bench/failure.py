"""Benchmarks that cannot go on: one line and an exit code."""

from __future__ import annotations

WRONG = 1
"""Done, but an answer is wrong, an object is left, or a server is unreachable."""
REFUSED = 2
"""Refused before anything happened."""
INTERRUPTED = 130


def mend(status: int, body: bytes = b"") -> str:
    """Return the mend of an answer with a status that was not asked for."""
    if body and not body.lstrip().startswith(b"{"):
        return "is this an API server?"
    if status == 401:
        return "--token, or --kubeconfig with credentials that the server knows"
    if status == 403:
        return "a user with more rights"
    return "the log of the server" if status >= 500 else "is this an API server?"


def unreachable(why: str) -> tuple[str, str]:
    """Return what is said of a server that gave no answer, and the mend."""
    mend = "check the address"
    if "certificate" in why:
        mend = "--kubeconfig has the authority of a server; --insecure-skip-tls-verify accepts any"
    elif "connection refused" in why.lower():
        mend = "nothing listens there: start the server, or check the address"
    return f"the server cannot be reached: {why}", mend


class Stopped(Exception):
    """The reason, with its mend, and the exit code."""

    def __init__(self, what: str, mend: str = "", code: int = WRONG) -> None:
        super().__init__(f"{what} ({mend})" if mend else what)
        self.what = what
        self.mend = mend
        self.code = code


class Unreachable(Stopped):
    """A server that gives no answer."""
