"""`hydrofoil data restore`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hydrofoil.cli.data.work import Summary, command

if TYPE_CHECKING:
    from hydrofoil.engine import Encryption


def work(file: str, newdir: str, encryption: Encryption | None = None) -> Summary:
    """Do the work. Raise DataError."""
    from hydrofoil.clock import Clock
    from hydrofoil.engine import data_restore
    from hydrofoil.storage.local import first_revision

    # Servers assign less than one revision in a microsecond: all that were assigned since the backup are lower.
    return data_restore(file, newdir, first_revision(Clock()), encryption)


COMMAND = command(
    "restore",
    "FILE NEWDIR",
    work,
    "Make a data folder of a backup. Its revisions are above all since then: watches of before begin anew.",
    "hydrofoil data restore monday.backup /var/lib/hydrofoil",
)
