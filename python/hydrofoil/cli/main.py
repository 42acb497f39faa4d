"""`hydrofoil`: the entry point."""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Sequence

from hydrofoil import __version__


def pairs(text: str) -> dict[str, bool]:
    """`a=true,b=false`; a key without a value is true (GR-04, GR-05)."""
    out: dict[str, bool] = {}
    for part in filter(None, (p.strip() for p in text.split(","))):
        key, _, value = part.partition("=")
        if value.lower() not in ("", "true", "false"):
            raise argparse.ArgumentTypeError(f"{part!r} is not KEY[=true|false]")
        out[key] = value.lower() != "false"
    return out


def port_range(text: str) -> tuple[int, int]:
    """`30000-32767`."""
    low, dash, high = text.partition("-")
    if not dash or not low.isdigit() or not high.isdigit() or not 0 < int(low) <= int(high) < 65536:
        raise argparse.ArgumentTypeError(f"{text!r} is not a range of ports such as 30000-32767")
    return int(low), int(high)


def network(text: str) -> str:
    """An IP network in CIDR form."""
    import ipaddress

    try:
        return str(ipaddress.ip_network(text))
    except ValueError as e:
        raise argparse.ArgumentTypeError(str(e)) from None


def endpoints(text: str) -> dict[str, str]:
    """`namespace/name=host:port,...`."""
    out: dict[str, str] = {}
    for part in filter(None, (p.strip() for p in text.split(","))):
        service, _, address = part.partition("=")
        if service.count("/") != 1 or not address.rpartition(":")[2].isdigit():
            raise argparse.ArgumentTypeError(f"{part!r} is not NAMESPACE/NAME=HOST:PORT")
        out[service] = address
    return out


def seconds(text: str) -> float:
    """A Go duration such as `5m`."""
    from hydrofoil import engine

    found = engine.duration(text)
    if found is None or found <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a duration such as 5m or 30s")
    return found


def limit(text: str) -> int:
    """A number of requests; 0 is no limit."""
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of requests, or 0 for no limit")
    return int(text)


class Parser(argparse.ArgumentParser):
    """One clear line on a bad flag, exit status 2."""

    def error(self, message: str) -> None:  # type: ignore[override]
        sys.stderr.write(f"hydrofoil: {message}\n")
        raise SystemExit(2)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = Parser(prog="hydrofoil", description="A Kubernetes-API-compatible server.")
    top.add_argument("--version", action="version", version=f"hydrofoil {__version__}")
    commands = top.add_subparsers(dest="command", required=True, parser_class=Parser)
    p = commands.add_parser("serve", help="serve the API until SIGTERM or SIGINT")
    p.add_argument("--host", "--bind-address", default="127.0.0.1", help="address to listen on (default %(default)s)")
    p.add_argument(
        "--port",
        "--secure-port",
        type=int,
        default=8080,
        help="port to listen on; 0: any free one (default %(default)s)",
    )
    p.add_argument("--tls-cert-file", default="", metavar="FILE", help="serve TLS with this certificate chain")
    p.add_argument("--tls-private-key-file", default="", metavar="FILE", help="its private key")
    p.add_argument("--kubeconfig", default="", metavar="FILE", help="write a kubeconfig with the address in use")
    p.add_argument(
        "--controllers",
        default="*",
        metavar="LIST",
        help="namespace, garbagecollector, pvc-protection, pv-protection, vac-protection; "
        "'*': all, '-name': not that one, empty: none (default %(default)s)",
    )
    p.add_argument(
        "--runtime-config",
        type=pairs,
        default={},
        metavar="KEY=BOOL,...",
        help="switch group-versions or resources on or off",
    )
    p.add_argument("--feature-gates", type=pairs, default={}, metavar="KEY=BOOL,...", help="switch features on or off")
    p.add_argument(
        "--service-cluster-ip-range",
        type=network,
        default="10.0.0.0/24",
        metavar="CIDR",
        help="cluster IPs of services (default %(default)s)",
    )
    p.add_argument(
        "--service-node-port-range",
        type=port_range,
        default=(30000, 32767),
        metavar="FROM-TO",
        help="node ports of services (default 30000-32767)",
    )
    p.add_argument("--service-account-issuer", default="", metavar="URL", help="issuer of service account tokens")
    p.add_argument(
        "--max-requests-inflight",
        type=limit,
        default=400,
        metavar="N",
        help="reading requests answered at a time; more are told to try again; 0: no limit (default %(default)s)",
    )
    p.add_argument(
        "--max-mutating-requests-inflight",
        type=limit,
        default=200,
        metavar="N",
        help="the same for writing requests (default %(default)s)",
    )
    p.add_argument(
        "--request-timeout",
        type=seconds,
        default=60.0,
        metavar="DURATION",
        help="how long a request may take that is no watch (default 1m)",
    )
    p.add_argument(
        "--service-endpoints",
        type=endpoints,
        default={},
        metavar="NAMESPACE/NAME=HOST:PORT,...",
        help="where services are reached that conversion webhooks and API services name",
    )
    p.add_argument(
        "--history-window",
        type=seconds,
        default=300.0,
        metavar="DURATION",
        help="how long past versions stay readable (default 5m)",
    )
    p.add_argument(
        "--history-events",
        type=int,
        default=200_000,
        metavar="N",
        help="past versions kept a resource at most (default %(default)s)",
    )
    p.add_argument(
        "--history-bytes",
        type=int,
        default=256 << 20,
        metavar="N",
        help="bytes of past versions kept a resource at most (default %(default)s)",
    )
    p.add_argument(
        "--list-cache-bytes",
        dest="cache_bytes",
        type=int,
        default=None,
        metavar="N",
        help="bytes of encoded lists kept at most (default: 16 MiB and half of what the objects have)",
    )
    p.add_argument(
        "--log-format", choices=("text", "json"), default="text", help="form of log lines (default %(default)s)"
    )
    p.add_argument(
        "-v",
        "--v",
        type=int,
        default=0,
        metavar="LEVEL",
        dest="verbosity",
        help="verbosity of the log (default %(default)s)",
    )
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command; the exit code."""
    given = vars(parser().parse_args(argv))
    given.pop("command")
    if not 0 <= given["port"] < 65536:
        sys.stderr.write(f"hydrofoil: argument --port: {given['port']} is not a port\n")
        return 2
    # Only serving needs the engine: --help and --version answer without it.
    # What is made until it serves lives as long as the process: the collector looks at none of it.
    gc.disable()
    from hydrofoil import client

    client.defer()
    from hydrofoil.cli.log import configure
    from hydrofoil.server.config import Config
    from hydrofoil.server.run import run

    config = Config(**given)
    configure(config.log_format, config.verbosity)
    return run(config)


if __name__ == "__main__":
    sys.exit(main())
