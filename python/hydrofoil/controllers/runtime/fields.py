"""Fields of stored objects, read without decoding the object."""

from __future__ import annotations

from typing import Any

import orjson

from hydrofoil.engine import ConversionError, Stored

Metadata = dict[str, Any]
MANAGED = b',"managedFields":['


def metadata_json(stored: Stored) -> bytes:
    """Return the metadata of an object in JSON, without managed fields where they are its end.

    Metadata has one form in all versions, so objects that a webhook would have to convert first are read as stored.
    """
    try:
        text = stored.member("metadata") or b"{}"
    except ConversionError:
        # It is stored in another version, and was never asked for in this one.
        text = orjson.dumps(orjson.loads(stored.outline())["metadata"])
    head, cut, tail = text.partition(MANAGED)
    # Built-in kinds have them last, in the order of protobuf. They are most of the text, and no controller reads them.
    return head + b"}" if cut and tail.endswith(b"]}") else text


def metadata(stored: Stored) -> Metadata:
    """Return the metadata of an object, perhaps without its managed fields."""
    found: Metadata = orjson.loads(metadata_json(stored))
    return found


def field(stored: Stored, *path: str) -> Any:
    """Return a field by its path, as a JSON value; None if it is absent. Only the member at its start is decoded.

    Raise ConversionError for a field outside of metadata of an object that a webhook has to convert.
    """
    first, *rest = path
    if first == "metadata":
        found: Any = metadata(stored)
    else:
        text = stored.member(first)
        found = None if text is None else orjson.loads(text)
    for name in rest:
        if not isinstance(found, dict):
            return None
        found = found.get(name)
    return found


def is_deleting(stored: Stored) -> bool:
    """Report whether the deletion of an object has begun."""
    text = metadata_json(stored)
    # A quote within a string is escaped, so this is a name; that of an annotation or label is no proof.
    return b'"deletionTimestamp":' in text and "deletionTimestamp" in orjson.loads(text)


def owner_uids(stored: Stored) -> tuple[str, ...]:
    """Return the uids of the owners of an object, for an index."""
    text = metadata_json(stored)
    if b'"ownerReferences":' not in text:
        return ()
    return tuple(owner["uid"] for owner in orjson.loads(text).get("ownerReferences") or ())


def controller_uid(stored: Stored) -> tuple[str, ...]:
    """Return the uid of the owner that manages an object, for an index (`metav1.GetControllerOf`)."""
    text = metadata_json(stored)
    if b'"ownerReferences":' not in text:
        return ()
    owners = orjson.loads(text).get("ownerReferences") or ()
    return tuple(owner["uid"] for owner in owners if owner.get("controller"))[:1]


def node_name(stored: Stored) -> tuple[str, ...]:
    """Return the node that a pod is bound to, for an index (client-go's `spec.nodeName` indexers)."""
    name = field(stored, "spec", "nodeName")
    return (name,) if name else ()


def labels(stored: Stored) -> tuple[str, ...]:
    """Return the labels of an object as `key=value`, for an index."""
    return tuple(f"{key}={value}" for key, value in (metadata(stored).get("labels") or {}).items())
