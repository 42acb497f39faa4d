"""How much of an answer is read."""

from __future__ import annotations

from hydrofoil.outbound.bounds import GROWTH, OBJECT, decode_json, review_bound


def test_a_review_may_grow_with_what_was_asked_and_with_the_number_of_objects() -> None:
    assert review_bound(1, 100) == OBJECT + GROWTH * 100
    assert review_bound(1, 100 << 20) == 2 * OBJECT
    assert review_bound(500, 1000) == OBJECT + GROWTH * 1000


async def test_large_and_small_json_read_the_same() -> None:
    small = b'{"a":1}'
    large = b'{"a":"' + b"x" * 100_000 + b'"}'
    assert await decode_json(small) == {"a": 1}
    assert await decode_json(large) == {"a": "x" * 100_000}
