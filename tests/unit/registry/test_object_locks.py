"""Writers of one large object follow each other."""

from __future__ import annotations

import asyncio

import pytest

from hydrofoil.registry.object_locks import Key, ObjectLocks

ONE: Key = ("", "configmaps"), "default", "one"
OTHER: Key = ("", "configmaps"), "default", "other"


async def test_writers_of_one_object_follow_each_other_in_their_order() -> None:
    locks, seen = ObjectLocks(), list[str]()

    async def write(name: str) -> None:
        async with locks.of(ONE):
            seen.append(f"{name} begins")
            await asyncio.sleep(0)
            seen.append(f"{name} ends")

    await asyncio.gather(*(write(name) for name in "abc"))
    assert seen == [f"{name} {what}" for name in "abc" for what in ("begins", "ends")]
    assert len(locks) == 0


async def test_writers_of_others_do_not_wait() -> None:
    locks = ObjectLocks()
    async with locks.of(ONE), asyncio.timeout(30), locks.of(OTHER):
        assert len(locks) == 2
    assert len(locks) == 0


async def test_a_turn_ends_with_an_error_and_a_writer_may_leave_the_line() -> None:
    locks = ObjectLocks()
    with pytest.raises(RuntimeError):
        async with locks.of(ONE):
            leaving = asyncio.ensure_future(locks.of(ONE).__aenter__())
            await asyncio.sleep(0)
            leaving.cancel()
            await asyncio.gather(leaving, return_exceptions=True)
            raise RuntimeError
    async with asyncio.timeout(30), locks.of(ONE):
        assert len(locks) == 1
    assert len(locks) == 0
