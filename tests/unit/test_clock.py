"""Time and chance."""

from __future__ import annotations

import uuid

from hydrofoil.clock import EPOCH, LETTERS, Chance, Clock


def test_uids_are_uuids_of_version_4() -> None:
    chance = Chance()
    made = {chance.uid() for _ in range(1000)}
    assert len(made) == 1000
    assert all(str(uuid.UUID(uid)) == uid and uuid.UUID(uid).version == 4 for uid in made)
    assert {uuid.UUID(uid).variant for uid in made} == {uuid.RFC_4122}


def test_chance_repeats_with_a_seed() -> None:
    one, two = Chance(7), Chance(7)
    for _ in range(10):
        assert (one.uid(), one.letters(5), one.below(9)) == (two.uid(), two.letters(5), two.below(9))
    assert Chance().uid() != Chance().uid()


def test_numbers_and_letters_are_within_bounds() -> None:
    chance = Chance(1)
    assert {chance.below(3) for _ in range(100)} == {0, 1, 2}
    assert set(chance.letters(5000)) == set(LETTERS)
    assert all(1.0 <= chance.between(1.0, 2.0) <= 2.0 for _ in range(100))


def test_one_moment_in_all_forms() -> None:
    clock = Clock()
    now = clock.now()
    assert abs((now - EPOCH).total_seconds() - clock.seconds()) < 5
    assert clock.text()[:14] >= now.strftime("%Y-%m-%dT%H:")
    assert clock.native.text_micro().startswith(clock.text()[:13])
