"""The number of connections that a process may have."""

from __future__ import annotations

import resource

from hydrofoil.complaints import Complaint

SCARCE = 32
"""The least number of a descriptor at which the limit is looked at: few processes have one as low as that."""
SPARE = 8
"""The number of free descriptors at which a line is written."""
DESCRIPTORS = Complaint("descriptors are nearly used up, further connections will be reset: {} (ulimit -n)")


def warn_of_descriptors(number: int) -> None:
    """Write a line when a connection has one of the last descriptors of this process: the next have none.

    The least free number is taken, and uvloop resets connections for which there is none, without a word.
    """
    if number >= SCARCE and number >= (most := resource.getrlimit(resource.RLIMIT_NOFILE)[0]) - SPARE:
        DESCRIPTORS.say(f"{number + 1} of {most}")
