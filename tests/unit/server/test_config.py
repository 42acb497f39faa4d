"""Settings, help and reference are made from the options of the packages."""

from __future__ import annotations

import pytest
from tools.reference import of_flags

from hydrofoil.cli.serve import COMMAND
from hydrofoil.options import flags
from hydrofoil.server.config import ROOMS, Config
from tests.conftest import ROOT


def test_the_reference_is_that_of_the_flags() -> None:
    assert (ROOT / "docs" / "reference" / "flags.md").read_text() == of_flags(), "make docs"


def test_a_command_line_without_flags_is_the_default() -> None:
    assert Config(**COMMAND.settings(COMMAND.make_context("serve", []))[0]) == Config()


def test_settings_are_frozen() -> None:
    with pytest.raises(AttributeError):
        Config().port = 1  # type: ignore[misc]


def test_every_flag_decides_a_setting_of_one_room() -> None:
    settings = [flag.setting for room in ROOMS for flag in flags(room)]
    names = [name for room in ROOMS for flag in flags(room) for name in flag.names]
    assert len(set(settings)) == len(settings)
    assert len(set(names)) == len(names)
    assert set(settings) <= set(Config.DEFAULTS)
