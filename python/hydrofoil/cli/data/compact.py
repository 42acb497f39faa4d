"""`hydrofoil data compact`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hydrofoil.cli.data.work import Summary, command

if TYPE_CHECKING:
    from hydrofoil.engine import Encryption


def work(dir: str, encryption: Encryption | None = None) -> Summary:
    """Do the work. Raise DataError."""
    from hydrofoil.engine import data_compact

    return data_compact(dir, encryption)


COMMAND = command(
    "compact",
    "DIR",
    work,
    "Remove the history of a data folder that no server uses. With --encryption-provider-config all objects are written"
    " by its first providers.",
    "hydrofoil data compact /var/lib/hydrofoil",
)
