"""Preconditions of a write on the present version of its object."""

from __future__ import annotations

from hydrofoil import errors
from hydrofoil.apis.catalog import Resource
from hydrofoil.engine import Draft, Stored
from hydrofoil.registry.delete_options import DeleteOptions
from hydrofoil.storage.places import place

OWN_DELETION = (("", "namespaces"), ("apiextensions.k8s.io", "customresourcedefinitions"))
"""Resources whose storage checks the preconditions of a deletion by itself, with other words."""


def storage_error(resource: Resource, old: Stored, why: str) -> str:
    """Return the storage's message for a failed precondition, with the storage key."""
    of = f"{old.namespace}/{old.name}" if old.namespace else old.name
    key = place(resource.storage, of)
    return f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: {why}"


def check_uid(resource: Resource, name: str, old: Stored, uid: str) -> None:
    """Raise ApiError 409 if an update is for another object than the present one."""
    if uid and uid != (present := old.uid):
        why = f"Precondition failed: UID in precondition: {uid}, UID in object meta: {present}"
        raise errors.conflict(resource.group, resource.plural, name, storage_error(resource, old, why))


def check_version(resource: Resource, name: str, old: Stored, version: str, *, unconditional: bool) -> None:
    """Raise ApiError 409 if an update is for another version than the present one, 422 if it requires one."""
    if version:
        if not (version.isascii() and version.isdigit()):
            raise errors.unparsable_version(version, "invalid syntax")
        version = version.lstrip("0")
        if len(version) > 20 or int(version or "0") >= 2**64:
            raise errors.unparsable_version(version, "value out of range")
    if not version:
        if not unconditional:
            cause = (
                "FieldValueInvalid",
                "Invalid value: 0: must be specified for an update",
                "metadata.resourceVersion",
            )
            raise errors.invalid(resource.group, resource.plural, name, [cause])
    elif int(version) != old.revision:
        raise errors.conflict(resource.group, resource.plural, name, errors.MODIFIED)


def check_deletion(resource: Resource, name: str, old: Stored, draft: Draft, options: DeleteOptions) -> None:
    """Raise ApiError 409 if a deletion is for another object, or another version of it."""
    own = (resource.group, resource.plural) in OWN_DELETION
    group, noun = (resource.group, resource.plural) if own else (resource.storage_group, resource.kind)
    uid = draft.metadata().uid
    if options.uid is not None and options.uid != uid:
        why = f"the UID in the precondition ({options.uid}) does not match the UID in record ({uid}). "
        why += "The object might have been deleted and then recreated"
        if own:
            why = f"Precondition failed: UID in precondition: {options.uid}, UID in object meta: {uid}"
        raise errors.conflict(group, noun, name, why)
    if options.revision is not None and options.revision != str(old.revision):
        why = f"the ResourceVersion in the precondition ({options.revision}) does not match the "
        why += f"ResourceVersion in record ({old.revision}). The object might have been modified"
        if own:
            why = f"Precondition failed: ResourceVersion in precondition: {options.revision}, "
            why += f"ResourceVersion in object meta: {old.revision}"
        raise errors.conflict(group, noun, name, why)
