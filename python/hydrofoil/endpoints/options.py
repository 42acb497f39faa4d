"""The flags for requests in flight and their time limit."""

from __future__ import annotations

from hydrofoil.options import Options, amount, flag, seconds


class EndpointOptions(Options):
    """Limits on the number of requests in flight, and on the time of one."""

    max_requests_inflight: int = flag(
        "--max-requests-inflight",
        400,
        amount,
        "reading requests answered at a time, others get 429; unlimited if 0 (default {})",
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
