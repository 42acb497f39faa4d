"""`hydrofoil data backup`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hydrofoil.cli.data.work import Summary, command

if TYPE_CHECKING:
    from hydrofoil.engine import Encryption


def work(dir: str, file: str, encryption: Encryption | None = None) -> Summary:
    """Do the work. Raise DataError."""
    from hydrofoil.engine import data_backup

    return data_backup(dir, file, encryption)


COMMAND = command(
    "backup",
    "DIR FILE",
    work,
    "Write the state of a data folder to a file, as of one moment. A server may use the folder.",
    "hydrofoil data backup /var/lib/hydrofoil monday.backup",
)
