"""Several authorizers as one (apiserver `pkg/authorization/union/union_test.go`)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

import pytest

from hydrofoil.authorization.union import AlwaysDeny, Union
from hydrofoil.request import RequestInfo, Rules, StandingVerdict, User, Verdict, attributes

USER = User("u")
MASTER = User("m", groups=("system:masters",))
ASKED = attributes("get", "", "pods")
NOT, YES, NO = Verdict(reason="r", error="e"), Verdict(allowed=True, reason="yes"), Verdict(denied=True, reason="no")


class Fixed:
    """An authorizer with one answer, which may take a turn of the loop."""

    def __init__(self, verdict: Verdict, *, waits: bool = False, standing: StandingVerdict | None = None) -> None:
        self.verdict = verdict
        self.stands = standing
        self.waits = waits
        self.asked = 0

    def authorize(self, user: User, info: RequestInfo) -> Verdict | Awaitable[Verdict]:
        self.asked += 1
        return self._later() if self.waits else self.verdict

    async def _later(self) -> Verdict:
        await asyncio.sleep(0)
        return self.verdict

    def standing(self, user: User, info: RequestInfo) -> StandingVerdict | None:
        return self.stands

    def rules(self, user: User, namespace: str) -> Rules:
        return Rules([{"verbs": [self.verdict.reason]}], [], bool(self.verdict.error), self.verdict.error)


async def decided(union: Union, user: User = USER) -> Verdict:
    made = union.authorize(user, ASKED)
    return made if isinstance(made, Verdict) else await made


@pytest.mark.parametrize(
    "waits", [(False, False, False), (True, False, False), (False, True, False), (True, True, True)]
)
async def test_the_first_opinion_decides(waits: tuple[bool, ...]) -> None:
    for verdict in (YES, NO):
        parts = [Fixed(v, waits=w) for v, w in zip((NOT, verdict, YES), waits, strict=True)]
        assert await decided(Union(parts)) == verdict
        assert [part.asked for part in parts] == [1, 1, 0]


@pytest.mark.parametrize("waits", [False, True])
async def test_without_an_opinion_all_reasons_and_errors_are_there(waits: bool) -> None:
    parts = [Fixed(NOT, waits=waits), Fixed(Verdict()), Fixed(Verdict(reason="s", error="f"), waits=waits)]
    assert await decided(Union(parts)) == Verdict(reason="r\ns", error="[e, f]")


async def test_masters_are_not_asked_about() -> None:
    part = Fixed(NO)
    assert (await decided(Union([part]), MASTER)).allowed
    assert not part.asked
    assert not (await decided(Union([AlwaysDeny()]))).allowed


async def test_rules_are_those_of_all() -> None:
    found = await Union([Fixed(NOT), AlwaysDeny(), Fixed(YES)]).rules(USER, "ns")
    assert (found.resources, found.incomplete, found.error) == ([{"verbs": ["r"]}, {"verbs": ["yes"]}], True, "e")


def test_a_decision_stands_as_long_as_those_before_it_have_no_opinion() -> None:
    allows, abstains = StandingVerdict(allowed=True, counts=(print,)), StandingVerdict(allowed=False)
    first, second, third = (Fixed(NOT, standing=s) for s in (abstains, allows, None))
    assert Union([first, second, third]).standing(USER, ASKED) is allows
    assert Union([third, second]).standing(USER, ASKED) is None
    assert Union([first]).standing(USER, ASKED) is None
    assert Union([AlwaysDeny(), second]).standing(USER, ASKED) is None
    assert Union([third]).standing(MASTER, ASKED) == StandingVerdict(allowed=True)
