"""The user of a request."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from hydrofoil import errors
from hydrofoil.answer import Answer
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.context import Context, Filter, Handler
from hydrofoil.request import Incoming, User

Login = Callable[[Incoming], User | Awaitable[User]]


def authentication(login: Login, failed: Filter | None = None) -> Filter:
    """Set the user of each request, or answer 401, through the filter `failed` (`WithAuthentication`)."""

    def identify(context: Context, inner: Handler) -> Awaitable[Answer]:
        try:
            found = login(context)
        except errors.ApiError as e:
            return _refused(context, e, failed)
        if not isinstance(found, User):
            return _waiting(context, inner, found, failed)
        context.caller = context.user = found
        return inner(context)

    return identify


async def _waiting(context: Context, inner: Handler, login: Awaitable[User], failed: Filter | None) -> Answer:
    try:
        context.caller = context.user = await login
    except errors.ApiError as e:
        return await _refused(context, e, failed)
    return await inner(context)


async def _refused(context: Context, error: errors.ApiError, failed: Filter | None) -> Answer:
    async def refuse(context: Context) -> Answer:
        return respond.refused(context, error)

    return await (refuse(context) if failed is None else failed(context, refuse))
