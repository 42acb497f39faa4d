"""Shuffle sharding: the few queues, of many, that a flow may use (apiserver `pkg/util/shufflesharding`)."""

from __future__ import annotations

import hashlib


def flow_hash(schema: str, distinguisher: str) -> int:
    """Return the 64 bits of entropy of a flow (`hashFlowID`)."""
    data = schema.encode(errors="surrogateescape") + b"\0" + distinguisher.encode(errors="surrogateescape")
    return int.from_bytes(hashlib.sha256(data).digest()[:8], "little")


def hand(value: int, deck: int, size: int) -> tuple[int, ...]:
    """Deal `size` different cards of a deck to a hash value (`Dealer.Deal`)."""
    left = [0] * size
    for at in range(size):
        value, left[at] = divmod(value, deck - at)
    dealt = []
    for at, remainder in enumerate(left):
        # Each remainder counts the cards that were left when it was dealt.
        card = remainder
        for before in reversed(left[:at]):
            card += card >= before
        dealt.append(card)
    return tuple(dealt)
