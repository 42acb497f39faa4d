"""The addresses that a request came by (apimachinery `pkg/util/net/http.go SourceIPs`)."""

from __future__ import annotations

from ipaddress import ip_address

MOST = 64
"""The number of addresses read from one header: clients can send any."""


def canonical(text: str) -> str:
    """Return an address in its usual form; empty for other text. IPv4 may have leading zeros, as Go reads it here."""
    text = text.strip()
    if text.count(".") == 3 and ":" not in text:
        parts = text.split(".")
        if all(part.isascii() and part.isdigit() and len(part) < 4 for part in parts):
            text = ".".join(str(int(part)) for part in parts)
    try:
        found = ip_address(text)
    except ValueError:
        return ""
    mapped = getattr(found, "ipv4_mapped", None)
    return str(mapped or found).partition("%")[0]


def source_addresses(forwarded: str, real: str, remote: str) -> tuple[str, ...]:
    """Return the addresses of proxies in front, as the headers X-Forwarded-For and X-Real-Ip have them, and last that
    of the connection.
    """
    if not forwarded and not real:
        return (remote,) if remote else ()
    found = [address for part in forwarded.split(",")[:MOST] if (address := canonical(part))]
    if real and (address := canonical(real)) and address not in found:
        found.append(address)
    own = canonical(remote)
    if own and (not found or found[-1] != own):
        found.append(own)
    return tuple(found)
