"""Names and versions of new objects, and the errors of taken names (apiserver `pkg/storage/names`, `registry/rest`)."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable

from hydrofoil import errors
from hydrofoil.apis.catalog import Resource
from hydrofoil.clock import Chance
from hydrofoil.engine import Draft
from hydrofoil.registry.objects import Objects
from hydrofoil.storage.unreadable import Unreadable

NAME_TRIES = 8
"""The number of names that are generated for an object, as upstream (`maxNameGenerationCreateAttempts`)."""


def generate_name(base: str, chance: Chance) -> str:
    """Return a name with a prefix (apiserver `pkg/storage/names`)."""
    return base[:58] + chance.letters(5)


def candidates(name: str, base: str, chance: Chance, *, prefix_is_name: bool) -> Iterable[str]:
    """Return the names to try for a new object, one after the other while they are taken.

    A name is tried once, as is a prefix that is the name itself; without both, validation refuses the empty name.
    """
    if name or not base or prefix_is_name:
        return (name or base,)
    return (generate_name(base, chance) for _ in range(NAME_TRIES))


def kind_of(resource: Resource, draft: Draft) -> tuple[str, str]:
    """Return group and kind for an error: for a custom resource, those in the object."""
    if not resource.custom:
        return resource.storage_group, resource.kind
    meta = draft.metadata()
    return meta.api_version.rpartition("/")[0], meta.kind


def already_exists(objects: Objects, resource: Resource, namespace: str, name: str) -> errors.ApiError:
    """Return the 409 for a name that another object has."""
    old = None
    with contextlib.suppress(Unreadable):
        old = objects.collection(resource).get(resource.native, namespace, name)
    terminating = old is not None and old.thaw().lifecycle().deletion_timestamp
    prefix = "object is being deleted: " if terminating else ""
    return errors.already_exists(resource.group, resource.plural, name, prefix)


def no_unique_name(resource: Resource, name: str) -> errors.ApiError:
    """Return the 409 for a prefix whose generated names were all taken; `name` is the last one."""
    error = errors.already_exists(resource.group, resource.plural, name)
    error.message += ", the server was not able to generate a unique name for the object"
    error.retry_after = 1
    return error
