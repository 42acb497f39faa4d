"""The flags of how many requests are answered at a time, and for how long."""

from __future__ import annotations

from dataclasses import dataclass

from hydrofoil.options import amount, flag, seconds


@dataclass(frozen=True, kw_only=True)
class EndpointOptions:
    """How many requests are answered at a time, and how long one may take."""

    max_requests_inflight: int = flag(
        "--max-requests-inflight",
        400,
        amount,
        "reading requests answered at a time; more are told to try again; 0: no limit (default {})",
        value="N",
    )
    max_mutating_requests_inflight: int = flag(
        "--max-mutating-requests-inflight", 200, amount, "the same for writing requests (default {})", value="N"
    )
    request_timeout: float = flag(
        "--request-timeout",
        60.0,
        seconds,
        "how long a request may take that is no watch (default 1m)",
        value="DURATION",
    )
