"""Definitions without their schemas, which are nearly all of them: looking through a large one takes a millisecond."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import orjson

from hydrofoil.engine import Stored
from hydrofoil.pace.sizes import LARGE

KEPT = 16
"""The number of large versions whose outline is kept: several parts of the server read each of them at its write."""
Outline = dict[str, Any]
"""A custom resource definition in its stored version, without schemas and managed fields; it is read only."""


class Outlines:
    """The outlines of definitions."""

    def __init__(self) -> None:
        self._kept: OrderedDict[int, tuple[Stored, Outline]] = OrderedDict()
        """By the identity of a version, which is unique for as long as the version is kept beside."""

    def of(self, stored: Stored) -> Outline:
        """Return a definition without its schemas."""
        if stored.size <= LARGE:
            return read(stored)
        key = stored.identity
        if (known := self._kept.get(key)) is not None:
            return known[1]
        outline = read(stored)
        self._kept[key] = stored, outline
        if len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return outline


def read(stored: Stored) -> Outline:
    """Decode a definition without its schemas."""
    found: Outline = orjson.loads(stored.outline())
    return found
