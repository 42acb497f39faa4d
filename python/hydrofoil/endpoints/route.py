"""Routing: from request info to a handler."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from hydrofoil import errors
from hydrofoil.answer import Answer, plain
from hydrofoil.apis.catalog import Resource
from hydrofoil.endpoints import params as query
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.context import Context, Handler
from hydrofoil.endpoints.handlers import feature_gates, unstored
from hydrofoil.endpoints.handlers.create import create
from hydrofoil.endpoints.handlers.delete import delete, delete_collection
from hydrofoil.endpoints.handlers.get import get
from hydrofoil.endpoints.handlers.list import list_
from hydrofoil.endpoints.handlers.patch import patch
from hydrofoil.endpoints.handlers.update import update
from hydrofoil.endpoints.handlers.watch import watch
from hydrofoil.endpoints.negotiate import negotiate, patch_kind
from hydrofoil.endpoints.subresources.handler import handler as subresource_handler
from hydrofoil.errors import ApiError
from hydrofoil.headers import ACCEPT, CONTENT_TYPE
from hydrofoil.registry.fresh import as_api_errors
from hydrofoil.request import COLLECTION, ITEM, SUBRESOURCE, Incoming, RequestInfo
from hydrofoil.watch.follow import Followed

HANDLERS: dict[str, Handler] = {
    "list": list_,
    "watch": watch,
    "create": create,
    "deletecollection": delete_collection,
    "get": get,
    "update": update,
    "patch": patch,
    "delete": delete,
}
ITEM_VERBS = frozenset(ITEM.values())
CONNECTED = frozenset(("attach", "exec", "portforward", "proxy"))
"""Subresources that connect to a container or a server."""


class Route:
    """The innermost handler: API services, documents and resources."""

    def __init__(
        self,
        documents: Handler,
        passed_on: Callable[[RequestInfo], Callable[[Incoming], Awaitable[Answer]] | None],
        followed: Sequence[Followed[Any]] = (),
    ) -> None:
        """`followed` are the states that define resources and API services."""
        self._documents = documents
        self._passed_on = passed_on
        self._followed = followed

    async def __call__(self, context: Context) -> Answer:
        """Answer a request; an error is an answer, too."""
        try:
            if depends(context):
                await self._bring_up(context)
            if (service := self._passed_on(context.info)) is not None:
                return await service(context)
            handler = self._routed(context)
            context.counted = handler is not missing
            return await handler(context)
        except errors.FAULTS as e:
            if isinstance(e, ConnectionError):
                raise
            return respond.failure(context, e)

    async def _bring_up(self, context: Context) -> None:
        """Bring all states up to the view, and the view up to the log. Raise ApiError 504 and 503."""
        if context.registry.storage.is_current():
            for followed in self._followed:
                # Reading a state brings it up to the view.
                _ = followed.state
            return
        if not context.registry.storage.problem():
            with as_api_errors():
                # Together, so that one question is asked for all.
                await asyncio.gather(*(followed.fresh() for followed in self._followed))
            return
        # Reads at a known version go on without the log; fresh reads and writes fail by themselves.
        for followed in self._followed:
            _ = followed.state

    def _routed(self, context: Context) -> Handler:
        """Return the handler of a request. Raise ApiError 404, 405, 406 and 415."""
        info, method, headers = context.info, context.method, context.headers
        catalog = context.registry.catalog
        if not info.resourceful or info.group not in catalog.groups:
            return self._document
        resource = catalog.find(info.group, info.version, info.resource)
        if catalog.is_custom(info.group) and unserved(resource, method, info):
            return missing
        resource = find_resource(resource, info)
        context.params = query.parse(info.query)
        verb, handler = choose(method, context, resource)
        # Refusals from here on are the handler's: they count as requests for the resource.
        context.served, context.verb, context.counted = resource, verb, True
        if verb == "patch" and info.subresource != "proxy":
            # The kind of a patch is checked before its Accept header.
            content_type = headers.get(CONTENT_TYPE, "")
            context.patch = patch_kind(content_type, custom=resource.custom, cbor=context.parts.cbor)
        warning = b""
        if resource.deprecation and resource.deprecates(info.subresource):
            warning = respond.warning_lines([resource.deprecation])
            context.common += warning
        context.resource = resource
        if info.subresource and info.subresource in CONNECTED and not resource.custom:
            # Their routes produce any type.
            return handler
        try:
            context.accepted = negotiate(
                headers.get(ACCEPT, ""),
                watchable=verb in ("list", "watch"),
                # The scale of a custom resource is a built-in kind.
                custom=resource.custom and info.subresource != "scale",
                cbor=context.parts.cbor,
                tabled=verb != "create" or unstored.tabled(resource, info.subresource),
            )
        except ApiError as e:
            if e.message.startswith("406"):
                # A route that does not produce an accepted type is not taken, so it does not warn either.
                context.common = context.common.removesuffix(warning)
                context.served, context.counted = None, False
            raise
        return handler

    async def _document(self, context: Context) -> Answer:
        try:
            return await self._documents(context)
        except ApiError as e:
            e.foundation = True
            raise


def depends(context: Context) -> bool:
    """Report whether a request may depend on definitions or API services."""
    info, catalog = context.info, context.registry.catalog
    if not info.resourceful:
        return info.path.startswith(("/api", "/openapi"))
    return catalog.is_custom(info.group) or info.resource not in catalog.groups[info.group].get(info.version, ())


async def missing(context: Context) -> Answer:
    """Return the 404 for a path that is not served."""
    return plain(404, "404 page not found\n", context.common)


def unserved(resource: Resource | None, method: str, info: RequestInfo) -> bool:
    """Report whether no definition serves a path of its group: then the path does not exist."""
    if resource is None:
        return True
    if resource.namespaced:
        return not info.namespace and (bool(info.name) or method != "GET")
    return bool(info.namespace)


def find_resource(resource: Resource | None, info: RequestInfo) -> Resource:
    """Return the resource of a path. Raise ApiError 404."""
    if resource is None or (len(info.rest) and info.subresource != "proxy"):
        raise errors.no_such_resource()
    if info.subresource and info.subresource not in resource.subresources:
        if resource.custom:
            raise errors.not_found(resource.group, resource.plural, info.name)
        raise errors.no_such_resource()
    if resource.namespaced:
        # Across namespaces there are only collections.
        if not info.namespace and info.name:
            raise errors.no_such_resource()
    elif info.namespace:
        raise errors.no_such_resource()
    return resource


def not_allowed(resource: Resource, verb: str) -> ApiError:
    """Return the 405 for a verb that a resource lacks."""
    if resource.custom and verb:
        return errors.method_not_supported(resource.group, resource.plural, verb)
    return errors.method_not_allowed()


def choose(method: str, context: Context, resource: Resource) -> tuple[str, Handler]:
    """Return the verb of a request and its handler. Raise ApiError 404 and 405."""
    info = context.info
    if info.subresource:
        sub = resource.subresources[info.subresource]
        # A proxy also passes these on.
        verb = "get" if info.subresource == "proxy" and method in ("HEAD", "OPTIONS") else SUBRESOURCE.get(method, "")
        if verb not in sub.verbs:
            raise not_allowed(resource, verb)
        return verb, subresource_handler(resource, sub, verb)
    if info.watch_prefix:
        if method != "GET" or "watch" not in resource.verbs:
            raise errors.method_not_allowed()
        return "watch", watching(context)
    if info.name and ITEM_VERBS.isdisjoint(resource.verbs):
        # Upstream has no route to single objects of reviews.
        raise errors.no_such_resource()
    if resource.namespaced and not info.namespace and unstored.handles(resource):
        # There is no collection of them across namespaces.
        raise errors.no_such_resource()
    verb = (ITEM if info.name else COLLECTION).get(method, "")
    # Discovery hides verbs that a terminating definition no longer allows; admission refuses them.
    if verb not in resource.verbs and not (resource.terminating and verb):
        raise not_allowed(resource, verb)
    if info.verb == "watch":
        if "watch" not in resource.verbs:
            raise errors.method_not_supported(resource.group, resource.plural, "watch")
        return "watch", watching(context)
    if resource.namespaced and not info.namespace and verb in ("create", "deletecollection"):
        raise errors.method_not_allowed()
    if unstored.handles(resource):
        return verb, unstored.handler(resource)
    return verb, HANDLERS[verb]


def watching(context: Context) -> Handler:
    """Return the handler of a watch; refuse one with initial events if they are off."""
    if not context.parts.streams and "sendInitialEvents" in context.params:
        return feature_gates.refuse_initial_events
    return watch
