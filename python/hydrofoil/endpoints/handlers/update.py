"""PUT of an object or of its subresource of the same kind."""

from __future__ import annotations

from hydrofoil import errors
from hydrofoil.answer import Answer
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.context import Context
from hydrofoil.endpoints.handlers import body
from hydrofoil.endpoints.handlers.get import absent
from hydrofoil.endpoints.params import WriteOptions
from hydrofoil.engine import Draft, Stored
from hydrofoil.registry.objects import check_segment

UNNAMED = "the name of the object ({} based on URL) was undeterminable: name must be provided"


def check_name(context: Context, draft: Draft) -> None:
    """The name of a body must be that of the URL."""
    name = draft.head()[2]
    if not name:
        raise errors.bad_request(UNNAMED.format(context.info.name))
    if name != context.info.name:
        raise errors.bad_request(
            f"the name of the object ({name}) does not match the name on the URL ({context.info.name})"
        )


async def update(context: Context) -> Answer:
    """Replaces an object; some kinds are created when absent (URI-15)."""
    draft, options = await body.read(context, context.resource.native, "UpdateOptions")
    body.check_namespace(context, draft)
    check_name(context, draft)
    return await replace(context, draft, options)


async def replace(context: Context, draft: Draft, options: WriteOptions) -> Answer:
    """Puts a checked body in the place of the present version."""
    resource, info = context.resource, context.info
    if not info.subresource and context.registry.traits(resource)[0]:
        if await absent(context):
            check_segment(info.name)
            stored = await context.registry.create(
                resource,
                info.namespace,
                draft,
                context.write(dry_run=options.dry_run, manager=context.manager()),
                updated=True,
                sent=context.sent,
            )
            return await respond.shown(context, stored, 201)

    def change(_: Stored) -> Draft:
        # Each try begins from the body as it was sent.
        return draft.fork()

    stored = await context.registry.update(
        resource,
        info.namespace,
        info.name,
        change,
        context.write(dry_run=options.dry_run, manager=context.manager()),
        sent=context.sent,
    )
    return await respond.shown(context, stored)
