"""The small parts of the pipeline."""

from __future__ import annotations

from hydrofoil.clock import Chance
from hydrofoil.registry.names import generate_name


def test_a_made_up_name_keeps_its_prefix_as_far_as_there_is_room() -> None:
    made = generate_name("a" * 70, Chance())
    assert made[:58] == "a" * 58 and len(made) == 63
