"""The ranges of cluster IPs, checked as kube-apiserver checks them (`cmd/kube-apiserver/app/options`)."""

from __future__ import annotations

from ipaddress import IPv4Network, IPv6Network, ip_network

from hydrofoil.cli.values import Refused

FEWEST = 8
"""Addresses of the first range at least."""
SHORTEST = 64
"""The shortest prefix of an IPv6 range that addresses are drawn from (`ipallocator.go`)."""


def cluster_ranges(text: str) -> str:
    """One range or one of each family, the first of them the default family; empty: the default. Raises Refused."""
    if not text:
        return "10.0.0.0/24"
    parts = text.split(",")
    first = _network(parts[0], "service-cluster-ip-range[0] is not a valid cidr")
    # What has so many addresses that Go cannot count them has none for upstream.
    if not FEWEST <= first.num_addresses < 1 << (first.max_prefixlen - 1):
        what = "error determining service IP ranges for primary service cidr"
        raise Refused(f"{what}: the service cluster IP range must be at least {FEWEST} IP addresses")
    networks = [first]
    if len(parts) > 1:
        networks.append(_network(parts[1], "service-cluster-ip-range[1] is not an ip net"))
    found = []
    if len(parts) > 2:
        found.append("--service-cluster-ip-range must not contain more than two entries")
    if len(networks) == 2 and networks[0].version == networks[1].version:
        both = "--service-cluster-ip-range[0] and --service-cluster-ip-range[1]"
        found.append(f"{both} must be of different IP family")
    if found:
        raise Refused(found[0] if len(found) == 1 else f"[{', '.join(found)}]")
    for network in networks:
        if network.version == 6 and network.prefixlen < SHORTEST:
            length = f"{SHORTEST}, got {network.prefixlen}"
            raise Refused(f"<flag>: shortest allowed prefix length for service CIDR is {length}")
    return ",".join(map(str, networks))


def _network(text: str, refusal: str) -> IPv4Network | IPv6Network:
    address, slash, length = text.partition("/")
    if not slash or not length.isascii() or not length.isdigit() or "%" in address:
        raise Refused(refusal)
    if ":" not in address:
        # As Go's old parser did: zeros before a number do not count.
        address = ".".join(str(int(p)) if p.isascii() and p.isdigit() else p for p in address.split("."))
    try:
        return ip_network(f"{address}/{length}", strict=False)
    except ValueError:
        raise Refused(refusal) from None
