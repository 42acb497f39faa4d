"""`hydrofoil data export`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hydrofoil.cli.data.work import Summary, command

if TYPE_CHECKING:
    from hydrofoil.engine import Encryption


def work(dir: str, file: str, encryption: Encryption | None = None) -> Summary:
    """Do the work. Raise DataError."""
    from hydrofoil.engine import data_export

    return data_export(dir, file, encryption)


COMMAND = command(
    "export",
    "DIR FILE",
    work,
    "Write the objects of a data folder as lines of JSON, not encrypted. A server may use the folder.",
    "hydrofoil data export /var/lib/hydrofoil objects.jsonl",
)
