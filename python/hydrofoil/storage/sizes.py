"""The bound of one write, which a cluster has from etcd (`server/etcdserver/v3_server.go`, clientv3 `options.go`)."""

from __future__ import annotations

from typing import Any

from hydrofoil.engine import Change
from hydrofoil.errors import ApiError
from hydrofoil.storage.errors import StorageError
from hydrofoil.storage.log import Name
from hydrofoil.storage.places import place

ROOT = "/registry"
SENT = 2 * 1024 * 1024
"""The bytes of a message that a client of etcd sends at most."""
WRAPPED = 18
"""The bytes that etcd adds to a transaction before it looks at the size."""
FACTOR = 3
"""How much larger an object may be in etcd than its JSON is here: protobuf writes values that JSON omits."""


def _varint(number: int) -> int:
    return max(1, -(-number.bit_length() // 7))


def _field(length: int) -> int:
    """Return the length of a field in protobuf with content of that length."""
    return 1 + _varint(length) + length


def transaction(key: int, value: int, revision: int) -> int:
    """Return the bytes of the write of a value; `key` is the length of its key, `revision` 0 for a new one."""
    compare = _field(2 + _field(key) + 1 + _varint(revision))
    put = _field(_field(_field(key) + _field(value)))
    # An update asks for the present value in case of a conflict.
    found = _field(_field(_field(key))) if revision else 0
    return compare + put + found


class TooLarge(StorageError, ApiError):
    """A write that etcd would refuse: nothing was written."""

    def __init__(self, message: str) -> None:
        ApiError.__init__(self, 500, "", message)

    def __reduce__(self) -> tuple[Any, ...]:
        return TooLarge, (self.message,)


class Bound:
    """The most bytes that a write may have; 0 for any number."""

    def __init__(self, most: int = 0) -> None:
        self.most = most

    def concerns(self, change: Change) -> bool:
        """Report whether a write may be larger than a bound, and must be measured."""
        return change.size * FACTOR > self.most

    def check(self, name: Name, change: Change) -> None:
        """Raise ApiError 500 for a write of an object of a collection that is too large."""
        key = len(ROOT) + len(place(name, change.key).encode())
        size = transaction(key, change.shared_size(), change.expected)
        if size > SENT >= self.most:
            why = f"trying to send message larger than max ({size} vs. {SENT})"
            raise TooLarge(f"rpc error: code = ResourceExhausted desc = {why}")
        if size + WRAPPED > self.most:
            raise TooLarge("etcdserver: request is too large")
