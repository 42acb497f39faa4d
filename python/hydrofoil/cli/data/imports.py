"""`hydrofoil data import`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hydrofoil.cli.data.work import Summary, command

if TYPE_CHECKING:
    from hydrofoil.engine import Encryption


def work(file: str, newdir: str, encryption: Encryption | None = None) -> Summary:
    """Do the work. Raise DataError."""
    from hydrofoil.cli.data.lines import load

    return load(file, newdir, encryption)


COMMAND = command(
    "import",
    "FILE NEWDIR",
    work,
    "Make a data folder of lines of JSON, each an object with apiVersion, kind and metadata.",
    "hydrofoil data import objects.jsonl /var/lib/hydrofoil",
)
