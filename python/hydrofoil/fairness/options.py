"""The flag of priority and fairness."""

from __future__ import annotations

from hydrofoil.options import Options, boolean, flag


class FairnessOptions(Options):
    """Whether flow schemas and priority levels decide on requests, or plain limits."""

    enable_priority_and_fairness: bool = flag(
        "--enable-priority-and-fairness",
        True,
        boolean,
        "divide the requests in flight by flow schemas and priority levels (default true)",
        value="BOOL",
    )
