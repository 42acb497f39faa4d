"""Namespaces."""

from __future__ import annotations

from msgspec import Struct

from hydrofoil.controllers.objects.meta import ObjectMeta


class Namespace(Struct, frozen=True, gc=False):
    """A namespace, of which the metadata counts."""

    metadata: ObjectMeta
