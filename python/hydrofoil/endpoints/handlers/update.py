"""PUT of an object or of its subresource of the same kind."""

from __future__ import annotations

from hydrofoil import errors
from hydrofoil.endpoints.handlers import body
from hydrofoil.endpoints.params import WriteOptions
from hydrofoil.endpoints.respond import Answer
from hydrofoil.endpoints.scope import Scope
from hydrofoil.engine import Draft, Stored
from hydrofoil.registry.objects import check_segment

UNNAMED = "the name of the object ({} based on URL) was undeterminable: name must be provided"


def check_name(scope: Scope, draft: Draft) -> None:
    """The name of a body must be that of the URL."""
    name = draft.head()[2]
    if not name:
        raise errors.bad_request(UNNAMED.format(scope.info.name))
    if name != scope.info.name:
        raise errors.bad_request(
            f"the name of the object ({name}) does not match the name on the URL ({scope.info.name})"
        )


async def update(scope: Scope) -> Answer:
    """Replaces an object; some kinds are created when absent (URI-15)."""
    draft, options = await body.read(scope, scope.resource.native, "UpdateOptions")
    body.check_namespace(scope, draft)
    check_name(scope, draft)
    return await replace(scope, draft, options)


async def replace(scope: Scope, draft: Draft, options: WriteOptions) -> Answer:
    """Puts a checked body in the place of the present version."""
    resource, info = scope.resource, scope.info
    if not info.subresource and scope.registry.traits(resource)[0]:
        if scope.collection.get(resource.native, info.namespace, info.name) is None:
            check_segment(info.name)
            stored = await scope.registry.create(
                resource,
                info.namespace,
                draft,
                scope.write(dry_run=options.dry_run, manager=scope.manager()),
                updated=True,
                sent=scope.sent,
            )
            return await scope.shown(stored, 201)

    def change(_: Stored) -> Draft:
        # Each try begins from the body as it was sent.
        return draft.fork()

    stored = await scope.registry.update(
        resource,
        info.namespace,
        info.name,
        change,
        scope.write(dry_run=options.dry_run, manager=scope.manager()),
        sent=scope.sent,
    )
    return await scope.shown(stored)
