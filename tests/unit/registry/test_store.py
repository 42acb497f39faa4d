"""The small parts of the pipeline."""

from __future__ import annotations

import uuid

from hydrofoil.registry.store import generate_name, new_uid


def test_uids_are_random_uuids() -> None:
    made = [uuid.UUID(new_uid()) for _ in range(200)]
    assert {(u.version, u.variant) for u in made} == {(4, uuid.RFC_4122)} and len(set(made)) == 200
    assert {str(u)[19] for u in made} == set("89ab")


def test_a_made_up_name_keeps_its_prefix_as_far_as_there_is_room() -> None:
    assert generate_name("a" * 70)[:58] == "a" * 58 and len(generate_name("a" * 70)) == 63
