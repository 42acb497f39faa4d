"""The flag of the test controls."""

from __future__ import annotations

from hydrofoil.go_text import quote
from hydrofoil.options import FALSE, TRUE, Options, Refused, flag


def reach(text: str) -> str:
    """Read the clients that may use the controls: empty for no client, `local` for those on this machine, `all`."""
    if text in FALSE:
        return ""
    if text in TRUE:
        return "local"
    if text in ("local", "all"):
        return text
    raise Refused(f"<flag> {quote(text)} must be one of true, false, all")


class ControlOptions(Options):
    """Whether tests may control a server over HTTP."""

    test_controls: str = flag(
        "--test-controls",
        "",
        reach,
        "let tests reset, break and inspect the server under /hydrofoil/v1; `all`: not only from this machine",
        value="BOOL",
    )
