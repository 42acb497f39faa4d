"""The flags of a gateway."""

from __future__ import annotations

from hydrofoil.options import Options, anything, boolean, flag, integer, one_of, seconds

CACHES = "all, on-demand, or RESOURCE,..."


def size(text: str) -> int:
    """Read a number of bytes. Raise ValueError."""
    number = integer(text)
    if number < 0:
        raise ValueError("must not be negative")
    return number


class UpstreamOptions(Options):
    """Another API server, whose objects this one serves."""

    upstream: str = flag(
        "--upstream",
        "",
        anything,
        "serve the objects of the server of this kubeconfig: reads from a view, everything else passed on",
        value="KUBECONFIG",
    )
    upstream_cache: str = flag(
        "--upstream-cache",
        "all",
        anything,
        f"the resources that are read from the view: {CACHES} such as pods,deployments.apps (default {{}})",
        value="RESOURCES",
    )
    upstream_cache_bytes: int = flag(
        "--upstream-cache-bytes",
        0,
        size,
        "the greatest size of the view in bytes; what is used least is read from the upstream beyond (default: none)",
        value="BYTES",
    )
    upstream_identity: str = flag(
        "--upstream-identity",
        "token",
        one_of("token", "impersonate"),
        "pass bearer tokens on, or act for every caller by impersonation; certificates always need that (default {})",
        value="MODE",
    )
    upstream_authorization_cache: float = flag(
        "--upstream-authorization-cache",
        10.0,
        seconds,
        "how long the upstream's reviews of callers and rights are kept (default 10s)",
        value="DURATION",
    )
    upstream_stale_reads: bool = flag(
        "--upstream-stale-reads",
        False,
        boolean,
        "answer reads without a version from the view, with a warning, while the upstream is away",
        value="BOOL",
    )
