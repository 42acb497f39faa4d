"""The table of controllers has those that the flags name."""

from __future__ import annotations

from hydrofoil.controllers.options import LIVING, NAMES
from hydrofoil.controllers.table import ELECTED, living


def test_every_name_of_the_flag_is_a_controller() -> None:
    assert sorted(descriptor.name for descriptor in ELECTED) == sorted(NAMES)


def test_every_other_name_is_a_controller_of_a_room() -> None:
    assert sorted(descriptor.name for descriptor in living()) == sorted(LIVING)
