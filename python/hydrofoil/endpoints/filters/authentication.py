"""The user of a request."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from hydrofoil import errors
from hydrofoil.answer import Answer
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.context import Context, Filter, Handler
from hydrofoil.request import Incoming, User

Login = Callable[[Incoming], User | Awaitable[User]]


def authentication(login: Login) -> Filter:
    """Set the user of each request, or answer 401 (`WithAuthentication`)."""

    def identify(context: Context, inner: Handler) -> Awaitable[Answer]:
        try:
            found = login(context)
        except errors.ApiError as e:
            return _refused(context, e)
        if not isinstance(found, User):
            return _waiting(context, inner, found)
        context.caller = context.user = found
        return inner(context)

    return identify


async def _waiting(context: Context, inner: Handler, login: Awaitable[User]) -> Answer:
    try:
        context.caller = context.user = await login
    except errors.ApiError as e:
        return respond.refused(context, e)
    return await inner(context)


async def _refused(context: Context, error: errors.ApiError) -> Answer:
    return respond.refused(context, error)
