"""Objects whose stored values cannot be read, in the words of upstream (`storage/etcd3/corrupt_obj_deleter.go`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from hydrofoil.errors import ApiError, qualified_resource
from hydrofoil.go_text import quote
from hydrofoil.storage.errors import StorageError

MOST = 100
"""The number of such objects that the answer to a list names."""
TOO_MANY = {"reason": "FieldValueTooMany", "message": "too many errors, the list is truncated"}


class Fault(NamedTuple):
    """One object whose value cannot be read."""

    place: str
    """Its key in storage."""
    why: str
    decrypted: bool
    """Whether the value was decrypted, and is no object."""
    revision: int

    def corrupt(self) -> str:
        """Return the error of a value that may be deleted as it is (`corruptObjectError`)."""
        what = "object not decodable" if self.decrypted else "data from the storage is not transformable"
        return f"{what} revision={self.revision if self.decrypted else 0}: {self.why}"


class Unreadable(StorageError, ApiError):
    """The 500 for everyone that reads an object whose value cannot be read."""

    def __init__(self, fault: Fault, reason: str, message: str, details: dict[str, Any] | None = None) -> None:
        ApiError.__init__(self, 500, reason, message, details)
        self.fault = fault

    def __reduce__(self) -> tuple[Any, ...]:
        return Unreadable, (self.fault, self.reason, self.message, self.details)


def _internal(fault: Fault, why: str) -> Unreadable:
    return Unreadable(fault, "InternalError", f"Internal error occurred: {why}", {"causes": [{"message": why}]})


def _plain(fault: Fault, why: str) -> Unreadable:
    """Return the 500 for an error that upstream does not interpret."""
    return Unreadable(fault, "", why)


def _at(place: str, fault: Fault) -> str:
    more = f"ResourceVersion: 0, AdditionalErrorMsg: {fault.corrupt()}"
    return f"StorageError: corrupt object, Code: 7, Key: {place}, {more}"


class Words:
    """The errors of a server, by its gate AllowUnsafeMalformedObjectDeletion."""

    def __init__(self, *, corrupt: bool = False) -> None:
        self.corrupt = corrupt
        """Whether values that cannot be read are called corrupt, and may be deleted as they are."""

    def read(self, fault: Fault, place: str) -> Unreadable:
        """Return the error of a read or deletion; `place` is the key below the prefix of all."""
        if self.corrupt:
            return _internal(fault, _at(place, fault))
        return _plain(fault, fault.why) if fault.decrypted else _internal(fault, fault.why)

    def changed(self, fault: Fault) -> Unreadable:
        """Return the error of an update."""
        why = fault.corrupt() if self.corrupt else fault.why
        return _plain(fault, why) if fault.decrypted else _internal(fault, why)

    def listed(self, faults: Sequence[Fault], group: str, plural: str) -> Unreadable:
        """Return the error of a list; the first of several is the one without this gate."""
        first = faults[0]
        if not self.corrupt:
            if first.decrypted:
                return _plain(first, first.why)
            return _internal(first, f"unable to transform key {quote(first.place)}: {first.why}")
        causes = [
            {"reason": "UnexpectedServerResponse", "message": _at(fault.place, fault), "field": fault.place}
            for fault in faults[:MOST]
        ]
        causes += [TOO_MANY] if len(faults) > MOST else []
        details = {"name": "list"} | ({"group": group} if group else {}) | {"kind": plural, "causes": causes}
        message = f"failed to read one or more {qualified_resource(group, plural)} from the storage"
        return Unreadable(first, "StorageReadError", message, details)
