"""PUT of an object or of its subresource of the same kind."""

from __future__ import annotations

from hydrofoil import errors
from hydrofoil.answer import Answer
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.context import Context
from hydrofoil.endpoints.handlers import body
from hydrofoil.endpoints.handlers.get import absent
from hydrofoil.endpoints.params import WriteOptions
from hydrofoil.engine import Draft, ObjectMeta, Stored
from hydrofoil.registry.objects import check_segment

UNNAMED = "the name of the object ({} based on URL) was undeterminable: name must be provided"


def check_name(context: Context, meta: ObjectMeta) -> None:
    """Check that the name in a body is that in the URL."""
    name = meta.name
    if not name:
        raise errors.bad_request(UNNAMED.format(context.info.name))
    if name != context.info.name:
        raise errors.bad_request(
            f"the name of the object ({name}) does not match the name on the URL ({context.info.name})"
        )


async def update(context: Context) -> Answer:
    """Replace an object; create it if it is absent and its kind allows that (URI-15)."""
    given = await body.read(context, context.resource.native, "UpdateOptions")
    check_name(context, given.meta)
    return await replace(context, given.draft, given.options)


async def replace(context: Context, draft: Draft, options: WriteOptions) -> Answer:
    """Replace the present version by a checked body."""
    resource, info = context.resource, context.info
    if not info.subresource and "create_on_update" in context.registry.traits(resource):
        if await absent(context):
            check_segment(info.name)
            write = context.write(dry_run=options.dry_run, manager=context.manager())
            write.creates = True
            stored = await context.registry.create(resource, info.namespace, draft, write)
            return await respond.answer_object(context, stored, 201)

    def change(_: Stored) -> Draft:
        # Each attempt begins with the body as sent.
        return draft.fork()

    write = context.write(dry_run=options.dry_run, manager=context.manager())
    stored = await context.registry.update(resource, info.namespace, info.name, change, write)
    return await respond.answer_object(context, stored)
