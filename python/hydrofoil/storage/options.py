"""The flags of the history and of cached encodings."""

from __future__ import annotations

from dataclasses import dataclass

from hydrofoil.options import amount, flag, span


@dataclass(frozen=True, kw_only=True)
class StorageOptions:
    """Length of the history, and size of cached encodings."""

    history_window: float = flag(
        # Upstream: --etcd-compaction-interval.
        "--history-window",
        300.0,
        span,
        "how long past versions stay readable (default 5m)",
        value="DURATION",
    )
    history_events: int = flag(
        "--history-events", 200_000, amount, "past versions kept a resource at most (default {})", value="N"
    )
    history_bytes: int = flag(
        "--history-bytes", 256 << 20, amount, "bytes of past versions kept a resource at most (default {})", value="N"
    )
    cache_bytes: int | None = flag(
        "--list-cache-bytes",
        None,
        amount,
        "bytes of encoded lists kept at most (default: 16 MiB and half of what the objects have)",
        value="N",
    )
