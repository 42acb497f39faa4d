"""The user of a request."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

from hydrofoil import errors
from hydrofoil.answer import Answer
from hydrofoil.authentication.login import StandingLogin
from hydrofoil.clock import stopwatch
from hydrofoil.counting import Histogram
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.context import Context, Filter, Handler, MemoDraft
from hydrofoil.request import Incoming, User

Login = Callable[[Incoming], User | Awaitable[User]]


FINE = (0.0001, 0.0003, 0.001, 0.002, 0.003, 0.004, 0.008, 0.01, 0.016, 0.03, 0.032, 0.064, 0.1, 0.128, 0.256, 0.3)
COARSE = (0.512, 1.0, 1.024, 2.048, 4.096, 5.0, 8.192, 10.0, 15.0, 16.384, 30.0)
TIMES = FINE + COARSE
"""The buckets of durations of logins and decisions, and of filters, together (`authenticationLatency`)."""


class Attempts:
    """The logins by result, and the numbers of requests by user."""

    def __init__(self) -> None:
        self.success, self.failure = Histogram(TIMES), Histogram(TIMES)
        """The durations in seconds."""
        self.users: dict[str, int] = {}

    def copy(self) -> Attempts:
        """Return the present state."""
        found = Attempts()
        found.success, found.failure, found.users = self.success.copy(), self.failure.copy(), self.users.copy()
        return found

    def count(self, user: User, seconds: float, times: int = 1) -> None:
        """Count requests of a user; all users without a name of upstream's list count as one."""
        self.success.observe(seconds, times)
        name = user.name if user.name in NAMED else "other"
        self.users[name] = self.users.get(name, 0) + times


NAMED = frozenset(
    (
        "admin",
        "client",
        "kube_proxy",
        "kubelet",
        "system:serviceaccount:kube-system:default",
        "system:kube-controller-manager",
        "system:kube-scheduler",
    )
)
"""The names that metrics show (`compressUsername`)."""


Standing = Callable[[Incoming], StandingLogin | None]


def stands_never(request: Incoming) -> None:
    """Return None: each request has to log in."""


def authentication(
    login: Login, failed: Filter | None = None, attempts: Attempts | None = None, standing: Standing = stands_never
) -> Filter:
    """Set the user of each request, or answer 401, through the filter `failed` (`WithAuthentication`).

    `standing` returns how long the login that a request just got stands, if it does.
    """
    counted = attempts or Attempts()

    def identify(context: Context, inner: Handler) -> Awaitable[Answer]:
        begun = stopwatch()
        try:
            found = login(context)
        except errors.ApiError as e:
            counted.failure.observe(stopwatch() - begun)
            return _refuse(context, e, failed)
        if not isinstance(found, User):
            return _waiting(context, inner, found, failed, counted)
        counted.count(found, stopwatch() - begun)
        context.caller = context.user = found
        if context.memo is not None:
            _note(context, context.memo, standing(context), counted)
        return inner(context)

    return identify


def _note(context: Context, memo: MemoDraft, standing: StandingLogin | None, counted: Attempts) -> None:
    """Add a login to the memo of a request."""
    if standing is None:
        context.memo = None
        return
    memo.holds = standing.holds
    memo.counts.append(partial(counted.count, context.caller, 0.0))
    memo.counts += standing.counts


async def _waiting(
    context: Context, inner: Handler, login: Awaitable[User], failed: Filter | None, counted: Attempts
) -> Answer:
    begun = stopwatch()
    context.memo = None
    try:
        context.caller = context.user = await login
        counted.count(context.user, stopwatch() - begun)
    except errors.ApiError as e:
        counted.failure.observe(stopwatch() - begun)
        return await _refuse(context, e, failed)
    return await inner(context)


async def _refuse(context: Context, error: errors.ApiError, failed: Filter | None) -> Answer:
    async def refuse(context: Context) -> Answer:
        return respond.answer_error(context, error)

    return await (refuse(context) if failed is None else failed(context, refuse))
