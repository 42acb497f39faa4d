"""As whom a request is answered here, and as whom it is passed on."""

from __future__ import annotations

from hydrofoil.authorization.impersonation import Impersonation
from hydrofoil.endpoints.context import Context
from hydrofoil.endpoints.filters.impersonation import wanted_user
from hydrofoil.errors import ApiError
from hydrofoil.request import User, decide
from hydrofoil.server.gateway.callers import Caller, Kind
from hydrofoil.server.gateway.client import Upstream
from hydrofoil.server.gateway.rights import Rights, Unreviewed


class Identity:
    """The users of requests, as far as the upstream's reviews tell them."""

    def __init__(self, upstream: Upstream, rights: Rights, *, impersonates: bool) -> None:
        """`impersonates`: this server acts for callers with tokens, too."""
        self._upstream = upstream
        self._rights = rights
        self._impersonates = impersonates
        self._acting = Impersonation(rights)

    async def may(self, context: Context, caller: Caller) -> bool:
        """Report whether the upstream allows a read. Raise Unreviewed, and ApiError 400 and 403."""
        if caller.kind is Kind.OTHER:
            return False
        if caller.kind is Kind.NOTHING:
            return not impersonates(context) and await self._rights.allows_anybody(context.info)
        user = caller.user or await self._rights.login(caller.token)
        if user is None:
            return False
        context.caller = context.user = user
        if impersonates(context):
            try:
                user = await self._become(context, user)
            except ApiError:
                if caller.kind is Kind.CERTIFICATE:
                    raise
                # The upstream says so itself.
                return False
        return (await decide(self._rights, user, context.info)).allowed

    async def _become(self, context: Context, caller: User) -> User:
        """Return the user that a caller acts as. Raise ApiError 400 and 403."""
        wanted = wanted_user(context)
        if wanted is None:
            return caller
        context.user, constraint = await self._acting.become(caller, wanted, context.info)
        if context.audit is not None:
            context.audit.acts_as(context.user, constraint)
        return context.user

    async def acts_for(self, context: Context, caller: Caller) -> User | None:
        """Return the user that this server acts for; None: a request is passed on with the caller's own credentials.

        Raise ApiError 400, 403 and 503.
        """
        user = caller.user
        if user is None and self._impersonates and caller.kind is Kind.TOKEN:
            try:
                user = await self._rights.login(caller.token)
            except Unreviewed:
                raise self._upstream.unreachable() from None
        if user is None:
            return None
        if not impersonates(context):
            return user
        try:
            return await self._become(context, user)
        except ApiError:
            if self._upstream.contact.away:
                raise self._upstream.unreachable() from None
            raise


def impersonates(context: Context) -> bool:
    """Report whether a request is to be that of another user than its caller."""
    return any(name[:12].lower() == "impersonate-" for name in context.request.headers)
