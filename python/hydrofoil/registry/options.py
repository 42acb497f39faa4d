"""The flags of allocated values and of addresses of services (`cmd/kube-apiserver/app/options`)."""

from __future__ import annotations

import re
from ipaddress import IPv4Network, IPv6Network, ip_network

from hydrofoil.go_text import quote
from hydrofoil.options import Options, Refused, boolean, flag, seconds

FEWEST = 8
"""The least number of addresses in the first range."""
SHORTEST = 64
"""The shortest prefix of an IPv6 range for allocation (`ipallocator.go`)."""


def cluster_ranges(text: str) -> str:
    """Read one range or one of each family, the default family first; empty: the default. Raise Refused."""
    if not text:
        return "10.0.0.0/24"
    parts = text.split(",")
    first = _network(parts[0], "service-cluster-ip-range[0] is not a valid cidr")
    # Upstream sees no addresses in a range with more than Go can count.
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
        # As Go's old parser did: leading zeros do not count.
        address = ".".join(str(int(p)) if p.isascii() and p.isdigit() else p for p in address.split("."))
    try:
        return ip_network(f"{address}/{length}", strict=False)
    except ValueError:
        raise Refused(refusal) from None


def port_range(text: str) -> tuple[int, int]:
    """Read `30000-32767` or `30000+2767` (apimachinery `pkg/util/net/port_range.go`). Raise ValueError."""
    value = text.strip()
    dash, plus = "-" in value, "+" in value
    if dash and plus:
        raise ValueError(f"unable to parse port range: {value}")
    low, _, high = value.partition("-" if dash else "+")
    if not dash and not plus:
        # Upstream accepts a single port, too; here the message shows the form of a range.
        raise ValueError(f"{quote(value)} is not a range of ports such as 30000-32767")
    first, last = _decimal(low), _decimal(high)
    last += 0 if dash else first
    if first > 65535 or last > 65535:
        raise ValueError(f"the port range cannot be greater than 65535: {value}")
    if last < first:
        raise ValueError(f"end port cannot be less than start port: {value}")
    if first < 1:
        raise ValueError(f"the port range cannot begin with {first}: {value}")
    return first, last


def _decimal(text: str) -> int:
    if not re.fullmatch(r"[+-]?[0-9]+", text):
        raise ValueError(f"strconv.Atoi: parsing {quote(text)}: invalid syntax")
    return int(text)


def endpoints(text: str) -> dict[str, str]:
    """Read `namespace/name=host:port,...`. Raise ValueError."""
    out: dict[str, str] = {}
    for part in filter(None, (p.strip() for p in text.split(","))):
        service, _, address = part.partition("=")
        host, _, number = address.rpartition(":")
        named = len(service.split("/")) == 2 and all(service.split("/"))
        if not named or not host or not number.isascii() or not number.isdigit() or not 0 < int(number) < 65536:
            raise ValueError(f"{quote(part)} is not NAMESPACE/NAME=HOST:PORT")
        out[service] = address
    return out


def privileged(text: str) -> bool:
    """Read whether privileged containers are allowed, which they are. Raise Refused for anything else."""
    if not boolean(text):
        raise Refused("<flag> can only be true: privileged containers are allowed")
    return True


class RegistryOptions(Options):
    """Allocated addresses and ports, and addresses of services."""

    service_cluster_ip_range: str = flag(
        "--service-cluster-ip-range",
        "10.0.0.0/24",
        cluster_ranges,
        "cluster IPs of services; one of IPv4 and one of IPv6 make dual-stack services (default {})",
        value="CIDR[,CIDR]",
    )
    event_ttl: float = flag(
        "--event-ttl", 3600.0, seconds, "how long events are kept after their last write (default 1h)", value="DURATION"
    )
    service_node_port_range: tuple[int, int] = flag(
        "--service-node-port-range",
        (30000, 32767),
        port_range,
        "node ports of services (default 30000-32767)",
        value="FROM-TO",
    )
    allow_privileged: bool = flag(
        "--allow-privileged", True, privileged, "allow privileged containers (default true)", value="BOOL"
    )
    service_endpoints: dict[str, str] = flag(
        "--service-endpoints",
        {},
        endpoints,
        "where services are reached that conversion webhooks and API services name",
        value="NAMESPACE/NAME=HOST:PORT,...",
    )
