"""Requests on behalf of another user."""

from __future__ import annotations

import re
from collections.abc import Awaitable
from urllib.parse import unquote

from hydrofoil import errors
from hydrofoil.answer import Answer
from hydrofoil.authorization.impersonation import Impersonation
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.context import Context, Filter, Handler
from hydrofoil.go_text import quote
from hydrofoil.request import User

EXTRA = "impersonate-extra-"
FIRST = frozenset("iI")
BAD_ESCAPE = re.compile("%(?![0-9A-Fa-f]{2})")


def impersonation(rights: Impersonation) -> Filter:
    """Act as the user in the headers `Impersonate-...`, if the caller may (`WithConstrainedImpersonation`)."""

    def become(context: Context, inner: Handler) -> Awaitable[Answer]:
        for name in context.request.headers:
            # Few names have this letter in front: the test costs the usual request next to nothing.
            if name[0] in FIRST and name[:12].lower() == "impersonate-":
                return _become(context, inner, rights)
        return inner(context)

    return become


async def _become(context: Context, inner: Handler, rights: Impersonation) -> Answer:
    context.memo = None
    try:
        wanted = wanted_user(context)
        if wanted is not None:
            context.user, constraint = await rights.become(context.caller, wanted, context.info)
            if context.audit is not None:
                context.audit.acts_as(context.user, constraint)
    except errors.ApiError as e:
        return respond.answer_error(context, e)
    return await inner(context)


def wanted_user(context: Context) -> User | None:
    """Return the user in the headers; None without a name. Raise ApiError 400 for the rest of a user without one."""
    name = uid = ""
    named = uids = False
    groups: list[str] = []
    extra: dict[str, list[str]] = {}
    for header, raw in context.request.headers.items():
        low = header.lower()
        if not low.startswith("impersonate-"):
            continue
        # Bytes that are no UTF-8 become what they are in Go's JSON.
        value = raw.encode(errors="surrogateescape").decode(errors="replace")
        if low == "impersonate-user" and not named:
            name, named = value, True
        elif low == "impersonate-uid" and not uids:
            uid, uids = value, True
        elif low == "impersonate-group":
            groups.append(value)
        elif low.startswith(EXTRA):
            extra.setdefault(unescape_key(low[len(EXTRA) :]), []).append(value)
    if not name and (uid or groups or extra):
        raise errors.bad_request(f"requested {go_text(uid, groups, extra)} without impersonating a user name")
    if not name:
        return None
    return User(name, uid, tuple(groups), {key: tuple(values) for key, values in extra.items()})


def unescape_key(key: str) -> str:
    """Decode an escaped key; one with a malformed escape stays as it is (`unescapeExtraKey`)."""
    return key if BAD_ESCAPE.search(key) else unquote(key, errors="replace")


def go_text(uid: str, groups: list[str], extra: dict[str, list[str]]) -> str:
    """Return a user without a name as Go's `%#v` does."""

    def texts(values: list[str]) -> str:
        return "[]string{" + ", ".join(map(quote, values)) + "}"

    group = texts(groups) if groups else "[]string(nil)"
    pairs = ", ".join(f"{quote(key)}:{texts(extra[key])}" for key in sorted(extra))
    more = f"map[string][]string{{{pairs}}}" if extra else "map[string][]string(nil)"
    return f'&user.DefaultInfo{{Name:"", UID:{quote(uid)}, Groups:{group}, Extra:{more}}}'
