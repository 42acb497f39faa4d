"""`hydrofoil data check`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hydrofoil.cli.data.work import Summary, command

if TYPE_CHECKING:
    from hydrofoil.engine import Encryption


def work(dir: str, encryption: Encryption | None = None) -> Summary:
    """Do the work. Raise DataError."""
    from hydrofoil.engine import data_check

    return data_check(dir, encryption)


COMMAND = command(
    "check",
    "DIR",
    work,
    "Read all of a data folder that no server uses, and find damage. Nothing is changed. Encrypted objects need no key;"
    " with --encryption-provider-config each must be readable.",
    "hydrofoil data check /var/lib/hydrofoil",
)
