"""The options of a deletion."""

from __future__ import annotations

from msgspec import Struct


class DeleteOptions(Struct):
    """metav1.DeleteOptions, checked."""

    grace: int | None = None
    uid: str | None = None
    revision: str | None = None
    policy: str | None = None
    orphan: bool | None = None
    dry_run: bool = False
    period: int | None = None
    """The grace period in seconds that the kind sets, which admission sees; None for kinds without one."""
    own_uid: str | None = None
    """The UID that the kind itself requires, which admission sees."""
