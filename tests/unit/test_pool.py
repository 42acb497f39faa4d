"""Results of work beside the loop come back one by one."""

from __future__ import annotations

import asyncio

from hydrofoil.pool import Returns


async def turns_of(returns: Returns, count: int) -> list[int]:
    """Return the turns of the loop in which results went on that came back in the same turn."""
    turn = 0
    left = count

    def mark() -> None:
        nonlocal turn
        turn += 1
        if left:
            asyncio.get_running_loop().call_soon(mark)

    async def result() -> int:
        nonlocal left
        await returns.turn()
        left -= 1
        return turn

    mark()
    return await asyncio.gather(*(result() for _ in range(count)))


async def test_results_that_come_back_together_have_a_turn_each() -> None:
    returns = Returns()
    found = await turns_of(returns, 5)
    assert found == sorted(set(found))


async def test_a_result_nobody_waits_for_holds_up_no_other() -> None:
    returns = Returns()
    await returns.turn()
    first, second = (asyncio.ensure_future(returns.turn()) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    async with asyncio.timeout(5):
        await second
