"""Where the steps of a write are done: on the loop, on a thread, or after a conversion."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator
from typing import Any, cast

import msgspec
import pytest

from hydrofoil import errors
from hydrofoil.engine import PrepareResult, Step
from hydrofoil.pace.sizes import LARGE
from hydrofoil.pool import POOLED_TRIES
from hydrofoil.registry.session import Attempt
from hydrofoil.registry.store import Registry
from hydrofoil.registry.write import Write
from hydrofoil.storage.errors import Conflict, Outdated
from tests.unit.parts import opened, resource

MAPS = resource("configmaps")
DONE = cast(PrepareResult, object())


class Steps:
    """A step whose attempts have these outcomes: a result, None, or a conversion that is missing."""

    def __init__(self, *outcomes: PrepareResult | tuple[bytes, str] | None, has_rules: bool = True) -> None:
        self.outcomes = deque(outcomes)
        self.has_rules = has_rules
        self.needs: tuple[bytes, str] | None = None
        self.tries: list[str] = []
        self.answers: list[tuple[bytes | None, str]] = []

    def _next(self) -> PrepareResult | None:
        outcome = self.outcomes.popleft()
        if isinstance(outcome, tuple):
            self.needs = outcome
            return None
        return outcome

    def here(self, time: float) -> PrepareResult | None:
        self.tries.append("here")
        return self._next()

    def there(self) -> PrepareResult | None:
        self.tries.append("there")
        return self._next()

    def answer(self, json: bytes | None, why: str = "") -> None:
        self.needs = None
        self.answers.append((json, why))


class Webhook:
    """A conversion that fails once there is a message."""

    def __init__(self, fault: str = "") -> None:
        self.fault = fault

    async def convert(self, objects: list[bytes], api_version: str) -> list[bytes]:
        if self.fault:
            raise errors.ApiError(500, "", self.fault)
        return [each + api_version.encode() for each in objects]


@pytest.fixture
async def registry() -> AsyncIterator[Registry]:
    async with opened() as found:
        yield found


def custom(registry: Registry, webhook: Webhook | None = None, size: int = 0) -> Attempt:
    of = msgspec.structs.replace(MAPS, custom=True, webhook=cast(Any, webhook))
    return registry.attempt(of, "a", Write(), size)


async def done(registry: Registry, attempt: Attempt, steps: Steps) -> PrepareResult:
    step = cast("Step[PrepareResult]", steps)
    return registry.here(attempt, step) or await registry.take(attempt, step)


async def test_a_cheap_step_stays_on_the_loop(registry: Registry) -> None:
    steps = Steps(DONE)
    assert await done(registry, custom(registry), steps) is DONE
    assert steps.tries == ["here"]


async def test_rules_that_took_too_long_are_not_begun_on_the_loop_again(registry: Registry) -> None:
    attempt, slow, next_one = custom(registry), Steps(None, DONE), Steps(DONE)
    assert await done(registry, attempt, slow) is DONE
    assert await done(registry, attempt, next_one) is DONE
    assert (slow.tries, next_one.tries) == (["here", "there"], ["there"])
    unruled = Steps(DONE, has_rules=False)
    assert await done(registry, attempt, unruled) is DONE
    assert unruled.tries == ["here"]


async def test_large_attempts_leave_the_loop_a_few_times(registry: Registry) -> None:
    attempts = [registry.attempt(MAPS, "a", Write(), LARGE + 1, tries) for tries in range(POOLED_TRIES + 1)]
    assert [attempt.off_loop for attempt in attempts] == [True] * POOLED_TRIES + [False]
    steps = Steps(DONE)
    assert await done(registry, attempts[0], steps) is DONE
    assert steps.tries == ["there"] and not attempts[0].write.slow
    assert not registry.attempt(MAPS, "a", Write(), LARGE).off_loop


async def test_conversions_are_made_between_attempts_of_a_step(registry: Registry) -> None:
    steps = Steps((b"one ", "v2"), (b"two ", "v3"), DONE)
    assert await done(registry, custom(registry, Webhook()), steps) is DONE
    assert steps.answers == [(b"one v2", ""), (b"two v3", "")]
    assert steps.tries == ["here"] * 3
    large = Steps((b"one ", "v2"), DONE)
    assert await done(registry, custom(registry, Webhook(), LARGE + 1), large) is DONE
    assert large.tries == ["there"] * 2


async def test_a_failed_conversion_is_an_answer_too(registry: Registry) -> None:
    steps = Steps((b"one ", "v2"), DONE)
    assert await done(registry, custom(registry, Webhook("no answer")), steps) is DONE
    assert steps.answers == [(None, "no answer")]


def test_an_attempt_from_before_a_restore_is_void(registry: Registry) -> None:
    attempt = registry.attempt(MAPS, "a", Write(), 0)
    registry.check_epoch(attempt)
    registry.storage.epoch += 1
    with pytest.raises(Conflict):
        registry.check_epoch(attempt)
    with pytest.raises(Outdated):
        registry.check_epoch(registry.attempt(MAPS, "a", Write(epoch=0), 0))
