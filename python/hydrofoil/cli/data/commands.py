"""The commands `hydrofoil data ...`: what each does, and what its help says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hydrofoil.cli.data.work import Summary, command

if TYPE_CHECKING:
    from hydrofoil.engine import Encryption

# Each loads the extension when it runs: help and completion are printed without it.


def check(dir: str, encryption: Encryption | None = None) -> Summary:
    """Read all of a folder. Raise DataError."""
    from hydrofoil.engine import data_check

    return data_check(dir, encryption)


def compact(dir: str, encryption: Encryption | None = None) -> Summary:
    """Remove the history of a folder. Raise DataError."""
    from hydrofoil.engine import data_compact

    return data_compact(dir, encryption)


def backup(dir: str, file: str, encryption: Encryption | None = None) -> Summary:
    """Write the state of a folder to a file. Raise DataError."""
    from hydrofoil.engine import data_backup

    return data_backup(dir, file, encryption)


def restore(file: str, newdir: str, encryption: Encryption | None = None) -> Summary:
    """Make a folder of a backup. Raise DataError."""
    from hydrofoil.clock import Clock
    from hydrofoil.engine import data_restore
    from hydrofoil.storage.local import first_revision

    # Servers assign less than one revision in a microsecond: all that were assigned since the backup are lower.
    return data_restore(file, newdir, first_revision(Clock()), encryption)


def export(dir: str, file: str, encryption: Encryption | None = None) -> Summary:
    """Write the objects of a folder as lines. Raise DataError."""
    from hydrofoil.engine import data_export

    return data_export(dir, file, encryption)


def load(file: str, newdir: str, encryption: Encryption | None = None) -> Summary:
    """Make a folder of lines. Raise DataError."""
    from hydrofoil.cli.data.lines import load

    return load(file, newdir, encryption)


COMMANDS = {
    made.name: made
    for made in (
        command(
            "check",
            "DIR",
            check,
            "Read all of a data folder that no server uses, and find damage. Nothing is changed. Encrypted objects need"
            " no key; with --encryption-provider-config each must be readable.",
            "hydrofoil data check /var/lib/hydrofoil",
        ),
        command(
            "compact",
            "DIR",
            compact,
            "Remove the history of a data folder that no server uses. With --encryption-provider-config all objects are"
            " written by its first providers.",
            "hydrofoil data compact /var/lib/hydrofoil",
        ),
        command(
            "backup",
            "DIR FILE",
            backup,
            "Write the state of a data folder to a file, as of one moment. A server may use the folder.",
            "hydrofoil data backup /var/lib/hydrofoil monday.backup",
        ),
        command(
            "restore",
            "FILE NEWDIR",
            restore,
            "Make a data folder of a backup. Its revisions are above all since then: watches of before begin anew.",
            "hydrofoil data restore monday.backup /var/lib/hydrofoil",
        ),
        command(
            "export",
            "DIR FILE",
            export,
            "Write the objects of a data folder as lines of JSON, not encrypted. A server may use the folder.",
            "hydrofoil data export /var/lib/hydrofoil objects.jsonl",
        ),
        command(
            "import",
            "FILE NEWDIR",
            load,
            "Make a data folder of lines of JSON, each an object with apiVersion, kind and metadata.",
            "hydrofoil data import objects.jsonl /var/lib/hydrofoil",
        ),
    )
}
"""The commands by name."""
