"""The user of a request."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from hydrofoil import errors
from hydrofoil.answer import Answer
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.context import Context, Filter, Handler
from hydrofoil.request import Incoming, User

Login = Callable[[Incoming], User | Awaitable[User]]


class Attempts:
    """The numbers of logins by result, and of requests by user; plain integers, since each request counts."""

    def __init__(self) -> None:
        self.success = self.failure = 0
        self.users: dict[str, int] = {}

    def count(self, user: User) -> None:
        """Count a request of a user; all users without a name of upstream's list count as one."""
        self.success += 1
        name = user.name if user.name in NAMED else "other"
        self.users[name] = self.users.get(name, 0) + 1


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


def authentication(login: Login, failed: Filter | None = None, attempts: Attempts | None = None) -> Filter:
    """Set the user of each request, or answer 401, through the filter `failed` (`WithAuthentication`)."""
    counted = attempts or Attempts()

    def identify(context: Context, inner: Handler) -> Awaitable[Answer]:
        try:
            found = login(context)
        except errors.ApiError as e:
            counted.failure += 1
            return _refused(context, e, failed)
        if not isinstance(found, User):
            return _waiting(context, inner, found, failed, counted)
        counted.count(found)
        context.caller = context.user = found
        return inner(context)

    return identify


async def _waiting(
    context: Context, inner: Handler, login: Awaitable[User], failed: Filter | None, counted: Attempts
) -> Answer:
    try:
        context.caller = context.user = await login
        counted.count(context.user)
    except errors.ApiError as e:
        counted.failure += 1
        return await _refused(context, e, failed)
    return await inner(context)


async def _refused(context: Context, error: errors.ApiError, failed: Filter | None) -> Answer:
    async def refuse(context: Context) -> Answer:
        return respond.refused(context, error)

    return await (refuse(context) if failed is None else failed(context, refuse))
