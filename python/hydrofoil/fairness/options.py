"""The flag of priority and fairness."""

from __future__ import annotations

from dataclasses import dataclass

from hydrofoil.options import boolean, flag


@dataclass(frozen=True, kw_only=True)
class FairnessOptions:
    """Whether flow schemas and priority levels decide on requests, or plain limits."""

    enable_priority_and_fairness: bool = flag(
        "--enable-priority-and-fairness",
        True,
        boolean,
        "divide the requests in flight by flow schemas and priority levels (default true)",
        value="BOOL",
    )
