"""Several authorizers as one (apiserver `pkg/authorization/union`)."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence

from hydrofoil import errors
from hydrofoil.request import ALLOWED, ALWAYS, Authorizer, RequestInfo, Rules, StandingVerdict, User, Verdict

MASTERS = "system:masters"
"""The group that may do everything, in front of all authorizers (`NewPrivilegedGroups`)."""
FORBIDDEN = Verdict(reason="Everything is forbidden.")


class AlwaysDeny:
    """Allow nothing (apiserver `authorizerfactory/builtin.go`)."""

    def authorize(self, user: User, info: RequestInfo) -> Verdict:
        """Return the same for every request."""
        return FORBIDDEN

    def standing(self, user: User, info: RequestInfo) -> None:
        """Return None: nothing is allowed."""

    def rules(self, user: User, namespace: str) -> Rules:
        """Return no rules."""
        return Rules()


class Union:
    """The first authorizer with an opinion decides; members of `system:masters` are not asked about."""

    def __init__(self, authorizers: Sequence[Authorizer]) -> None:
        self.authorizers = tuple(authorizers)
        """In their order; another tuple takes effect at once."""

    def authorize(self, user: User, info: RequestInfo) -> Verdict | Awaitable[Verdict]:
        """Return the decision on a request; an awaitable only if an authorizer has to wait."""
        if MASTERS in user.groups:
            return ALLOWED
        authorizers = self.authorizers
        if len(authorizers) == 1:
            return authorizers[0].authorize(user, info)
        gathered: list[Verdict] = []
        for at, authorizer in enumerate(authorizers):
            verdict = authorizer.authorize(user, info)
            if not isinstance(verdict, Verdict):
                return self._rest(user, info, verdict, authorizers[at + 1 :], gathered)
            if verdict.allowed or verdict.denied:
                return verdict
            gathered.append(verdict)
        return join_verdicts(gathered)

    def standing(self, user: User, info: RequestInfo) -> StandingVerdict | None:
        """Return the decision of the first authorizer that has an opinion, as long as that is known of those before."""
        if MASTERS in user.groups:
            return ALWAYS
        for authorizer in self.authorizers:
            verdict = authorizer.standing(user, info)
            if verdict is None or verdict.allowed:
                return verdict
        return None

    @staticmethod
    async def _rest(
        user: User,
        info: RequestInfo,
        waits: Awaitable[Verdict],
        authorizers: Sequence[Authorizer],
        gathered: list[Verdict],
    ) -> Verdict:
        """Continue with an authorizer that has to wait."""
        verdict = await waits
        if verdict.allowed or verdict.denied:
            return verdict
        gathered.append(verdict)
        for authorizer in authorizers:
            made = authorizer.authorize(user, info)
            verdict = made if isinstance(made, Verdict) else await made
            if verdict.allowed or verdict.denied:
                return verdict
            gathered.append(verdict)
        return join_verdicts(gathered)

    async def rules(self, user: User, namespace: str) -> Rules:
        """Return the rules of all authorizers."""
        all_rules = Rules()
        problems = []
        for authorizer in self.authorizers:
            made = authorizer.rules(user, namespace)
            found = made if isinstance(made, Rules) else await made
            all_rules.resources += found.resources
            all_rules.urls += found.urls
            all_rules.incomplete |= found.incomplete
            if found.error:
                problems.append(found.error)
        all_rules.error = errors.aggregate(problems) if problems else ""
        return all_rules


def join_verdicts(verdicts: Sequence[Verdict]) -> Verdict:
    """Return no opinion, with all reasons and errors."""
    problems = [verdict.error for verdict in verdicts if verdict.error]
    reason = "\n".join(verdict.reason for verdict in verdicts if verdict.reason)
    return Verdict(reason=reason, error=errors.aggregate(problems) if problems else "")
