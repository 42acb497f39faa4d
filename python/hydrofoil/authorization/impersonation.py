"""Users that act as others, with one right for all requests or rights for some (apiserver `filters/impersonation`)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from hydrofoil import errors
from hydrofoil.apis.names import NODE_OF_ACCOUNT, account_of, domain_prefixed, node_of
from hydrofoil.go_text import quote
from hydrofoil.pace.pacer import Pacer
from hydrofoil.request import Authorizer, RequestInfo, User, Verdict, attributes, refusal

MANY = 4
"""The number of groups or extra values from which one right to all of them is tried first."""
MOST_CALLERS = 10_000
"""The number of callers whose last successful mode is remembered."""
GROUP = "authentication.k8s.io"
AUTHENTICATED, UNAUTHENTICATED = "system:authenticated", "system:unauthenticated"
KEYS_OF_ACCOUNT = "authentication.kubernetes.io/associated-node-keys"


def _bare(wanted: User) -> bool:
    return not (wanted.uid or wanted.groups or wanted.extra)


def associated(wanted: User, caller: User) -> bool:
    """Report whether a service account's token is bound to the node that is wanted."""
    node = node_of(wanted.name)
    bound = caller.extra.get(NODE_OF_ACCOUNT, ())
    return _bare(wanted) and node is not None and account_of(caller.name) is not None and tuple(bound) == (node,)


def any_node(wanted: User, _: User) -> bool:
    """Report whether a node is wanted."""
    return _bare(wanted) and node_of(wanted.name) is not None


def account(wanted: User, _: User) -> bool:
    """Report whether a service account is wanted."""
    return _bare(wanted) and account_of(wanted.name) is not None


def other(wanted: User, _: User) -> bool:
    """Report whether neither a node nor a service account is wanted."""
    return node_of(wanted.name) is None and account_of(wanted.name) is None


class Mode(Struct, frozen=True):
    """One form of the right: for some requests, or with an empty name for all."""

    name: str
    applies: Callable[[User, User], bool]

    @property
    def verb(self) -> str:
        """Return the verb of the right to a user."""
        return f"impersonate:{self.name}" if self.name else "impersonate"


LEGACY = Mode("", lambda _wanted, _caller: True)
MODES = (
    Mode("associated-node", associated),
    Mode("arbitrary-node", any_node),
    Mode("serviceaccount", account),
    Mode("user-info", other),
    LEGACY,
)


class Impersonation:
    """The checks of one server; the mode that a caller used last with success is tried first."""

    def __init__(self, authorizer: Authorizer, *, constrained: bool = True) -> None:
        """`constrained`: rights for some requests count, too (gate ConstrainedImpersonation)."""
        self._authorizer = authorizer
        self._modes = MODES if constrained else (LEGACY,)
        self._last: dict[str, Mode] = {}

    async def become(self, caller: User, wanted: User, info: RequestInfo) -> tuple[User, str]:
        """Return the user that a request acts as, and the limited right by which it does; empty: the right to all.

        Raise ApiError 403 in the words of the first form that refused.
        """
        modes = list(self._modes)
        last = self._last.get(caller.name)
        if last is not None:
            modes.remove(last)
            modes.insert(0, last)
        first: errors.ApiError | None = None
        for mode in modes:
            if not mode.applies(wanted, caller):
                continue
            try:
                made = await self._check(mode, caller, wanted, info)
            except errors.ApiError as e:
                first = first or e
                continue
            if mode is not last:
                if len(self._last) >= MOST_CALLERS:
                    self._last.clear()
                self._last[caller.name] = mode
            return made, mode.verb if mode.name else ""
        raise first or errors.ApiError(500, "", "all impersonation modes failed")

    async def _check(self, mode: Mode, caller: User, wanted: User, info: RequestInfo) -> User:
        """Return the user with the groups that it has by its name. Raise ApiError 403."""
        if mode.name == "associated-node":
            # The right holds for whichever node the account's token is bound to.
            caller = replace(caller, extra={KEYS_OF_ACCOUNT: tuple(sorted(caller.extra))})
        check = _Check(self._authorizer, mode, caller)
        if mode.name:
            verb = f"impersonate-on:{mode.name}:{info.verb}"
            await check.right(replace(info, verb=verb, namespace=info.scope, name=info.subject))
        groups = await check.name(wanted)
        if wanted.uid:
            await check.right(check.attributes("uids", wanted.uid, GROUP))
        await check.groups(wanted.groups)
        await check.extra(wanted.extra)
        added = UNAUTHENTICATED if wanted.name == "system:anonymous" else AUTHENTICATED
        if added not in groups and (added is UNAUTHENTICATED or UNAUTHENTICATED not in groups):
            groups = (*groups, added)
        return replace(wanted, groups=groups)


class _Check(Struct):
    authorizer: Authorizer
    mode: Mode
    caller: User

    def attributes(
        self, resource: str, name: str, group: str | None = None, *, namespace: str = "", subresource: str = ""
    ) -> RequestInfo:
        """Return the attributes of a right; users and groups are in the core group where one right is for all."""
        if group is None:
            group = GROUP if self.mode.name else ""
        verb = self.mode.verb
        return attributes(verb, group, resource, version="v1", namespace=namespace, name=name, subresource=subresource)

    async def right(self, info: RequestInfo) -> None:
        """Check a right of the caller. Raise ApiError 403."""
        made: Verdict | Awaitable[Verdict] = self.authorizer.authorize(self.caller, info)
        verdict = made if isinstance(made, Verdict) else await made
        if not verdict.allowed:
            raise refusal(self.caller, info, ": ".join(filter(None, (verdict.error, verdict.reason))))

    def refuse(self, info: RequestInfo, why: str) -> errors.ApiError:
        """Return the 403 for a user that no right covers."""
        return refusal(self.caller, info, why)

    async def name(self, wanted: User) -> tuple[str, ...]:
        """Check the right to a name, and return the groups of the user. Raise ApiError 403."""
        groups = wanted.groups
        asked = self.attributes("users", wanted.name)
        if self.mode.name and (node := node_of(wanted.name)) is not None:
            shown = "*" if self.mode.name == "associated-node" else node
            asked = self.attributes("nodes", shown)
            groups = ("system:nodes",)
        elif (found := account_of(wanted.name)) is not None:
            namespace, name = found
            asked = self.attributes("serviceaccounts", name, namespace=namespace)
            groups = groups or ("system:serviceaccounts", f"system:serviceaccounts:{namespace}")
        await self.right(asked)
        return groups

    async def groups(self, groups: tuple[str, ...]) -> None:
        """Check the right to each group. Raise ApiError 403."""
        if self.mode.name:
            if "" in groups:
                why = "impersonating the empty string group is not allowed"
                raise self.refuse(self.attributes("groups", ""), why)
            if "system:masters" in groups:
                why = "impersonating the system:masters group is not allowed"
                raise self.refuse(self.attributes("groups", "system:masters"), why)
            if len(groups) >= MANY and await self._all(self.attributes("groups", "*")):
                return
        pacer = Pacer()
        for group in groups:
            await self.right(self.attributes("groups", group))
            await pacer.pause()

    async def extra(self, extra: Mapping[str, tuple[str, ...]]) -> None:
        """Check the right to each extra value. Raise ApiError 403."""
        if self.mode.name and extra:
            if why := invalid_extra(extra):
                raise self.refuse(self.attributes("userextras", "", GROUP), why)
            large = len(extra) >= MANY or sum(map(len, extra.values())) >= MANY
            if large and await self._all(self.attributes("userextras", "*", GROUP, subresource="*")):
                return
        pacer = Pacer()
        for key, values in extra.items():
            for value in values:
                await self.right(self.attributes("userextras", value, GROUP, subresource=key))
                await pacer.pause()

    async def _all(self, info: RequestInfo) -> bool:
        try:
            await self.right(info)
        except errors.ApiError:
            return False
        return True


def invalid_extra(extra: Mapping[str, tuple[str, ...]]) -> str:
    """Return the refusal of extra keys and values that limited rights never cover (`validateExtra`)."""
    for key, values in extra.items():
        if not key:
            return "impersonating the empty string key in extra is not allowed"
        if why := domain_prefixed(key, "extra.key"):
            return f"impersonating an invalid key in extra is not allowed: {errors.aggregate(why)}"
        if key != key.lower():
            return f"impersonating a non-lowercase key in extra is not allowed: {quote(key)}"
        if "" in values:
            return "impersonating the empty string value in extra is not allowed"
    return ""
