"""`serve` in place of kube-apiserver: with its words for what it refuses, and its exit code."""

from __future__ import annotations

from typing import Any

from hydrofoil.cli.command import Command
from hydrofoil.cli.failure import WRONG
from hydrofoil.cli.group import Entry
from hydrofoil.cli.serve import serve
from hydrofoil.server.config import ROOMS


def run(given: dict[str, Any], _words: tuple[str, ...]) -> int:
    """Serve; the lines of a failed start are upstream's. Return the exit code."""
    return serve(given, str)


COMMAND = Command("serve", ROOMS, run, "Serve the API in place of kube-apiserver.", usage=WRONG)
COMMANDS = {"serve": Entry("Serve", __name__, "serve the API in place of kube-apiserver")}
