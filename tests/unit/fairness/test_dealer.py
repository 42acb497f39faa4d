"""Shuffle sharding."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hydrofoil.fairness.dealer import flow_hash, hand


@given(st.integers(0, (1 << 64) - 1), st.integers(1, 128), st.integers(1, 8))
def test_a_hand_has_different_cards_of_the_deck(value: int, deck: int, size: int) -> None:
    size = min(size, deck)
    dealt = hand(value, deck, size)
    assert len(set(dealt)) == size and all(0 <= card < deck for card in dealt)


def test_all_hands_are_dealt_equally_often() -> None:
    hands = [hand(value, 4, 2) for value in range(12)]
    assert len(set(hands)) == 12


def test_flows_have_hashes_of_their_own() -> None:
    assert flow_hash("a", "bc") != flow_hash("ab", "c")
    # As sha256sum has it.
    assert flow_hash("global-default", "ada") < 1 << 64
