"""The common part of the commands of data folders."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from hydrofoil.cli.command import Command
from hydrofoil.cli.failure import WRONG, Failure
from hydrofoil.options import Options, anything, flag

if TYPE_CHECKING:
    from hydrofoil.engine import Encryption

Summary = tuple[int, int]
"""The number of objects, and the revision."""


class DataOptions(Options):
    """The keys of encrypted objects."""

    encryption_provider_config: str = flag(
        "--encryption-provider-config",
        "",
        anything,
        "read and write objects as this file of a server configures it (default: encrypted objects stay as they are)",
        value="FILE",
    )


def encryption(given: dict[str, Any]) -> Encryption | None:
    """Return the encryption of the flags. Raise Failure."""
    path = given.get("encryption_provider_config")
    if not path:
        return None
    from hydrofoil.clock import Clock
    from hydrofoil.storage.encryption.service import load

    try:
        return load(path, Clock())
    except ValueError as e:
        raise Failure(str(e), code=WRONG) from None


def user_of(words: Sequence[str], line: str) -> str:
    """Return who uses a folder, if a line says that somebody does."""
    from pathlib import Path

    from hydrofoil.folders import holder

    in_use = line.endswith("another process uses this folder")
    pid = next((pid for word in words if in_use and line.startswith(f"{word}:") and (pid := holder(Path(word)))), 0)
    return f": process {pid}" if pid else ""


def command(name: str, arguments: str, work: Callable[..., Summary], help: str, example: str) -> Command:
    """Return a command whose work gets its arguments, all of which are required, and the encryption."""
    needed = arguments.split()

    def run(given: dict[str, Any], words: Sequence[str]) -> int:
        if len(words) < len(needed):
            raise Failure(f"{needed[len(words)]} is missing", f"hydrofoil data {name} {arguments}")
        from hydrofoil.engine import DataError

        try:
            objects, revision = work(*words, encryption=encryption(given))
        except DataError as e:
            raise Failure(f"{e}{user_of(words, str(e))}", code=WRONG) from None
        sys.stdout.write(f"{objects} objects, revision {revision}\n")
        return 0

    made = Command(f"data {name}", [DataOptions], run, help, arguments=arguments, most=len(needed), examples=(example,))
    made.short_help = help
    return made
