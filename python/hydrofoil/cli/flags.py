"""The flags of `hydrofoil serve`, and one clear line for each that cannot be."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

from hydrofoil import __version__
from hydrofoil.cli import values
from hydrofoil.cli.controllers import controllers
from hydrofoil.cli.ranges import cluster_ranges

STATUS = 1
"""The exit status of a command that cannot start, as kube-apiserver's."""


def fail(message: str) -> NoReturn:
    """Writes one line and ends the process."""
    line = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in message)
    sys.stderr.write(f"hydrofoil: {line}\n")
    raise SystemExit(STATUS)


class Flag(argparse.Action):
    """A flag with a value. `read` makes it of the text; mappings of a flag that is given twice are joined."""

    def __init__(
        self, option_strings: Sequence[str], dest: str, read: Callable[[str], Any] = values.anything, **settings: Any
    ) -> None:
        super().__init__(option_strings, dest, **settings)
        self._read = read
        self._given = False

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        given: Any,
        option_string: str | None = None,
    ) -> None:
        name = option_string or self.option_strings[0]
        try:
            found = self._read(given)
        except values.Refused as e:
            fail(str(e).replace("<flag>", name))
        except ValueError as e:
            # pflag shows the short name as well where there is one.
            shown = name if all(o.startswith("--") for o in self.option_strings) else ", ".join(self.option_strings)
            fail(f"invalid argument {values.quoted(given)} for {values.quoted(shown)} flag: {e}")
        if isinstance(found, dict) and self._given:
            found = {**getattr(namespace, self.dest), **found}
        self._given = True
        setattr(namespace, self.dest, found)


class Parser(argparse.ArgumentParser):
    """Takes flags in full, as Go's flags do."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        """Ends the process."""
        fail(message)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Takes the word after a flag as its value, whatever it looks like."""
        return super().parse_known_args(list(self._joined(sys.argv[1:] if args is None else args)), namespace)

    def _joined(self, words: Sequence[str]) -> Iterable[str]:
        rest = iter(words)
        for word in rest:
            action = self._option_string_actions.get(word)
            if not isinstance(action, Flag):
                yield word
                continue
            value = next(rest, None)
            if value is None:
                short = "" if word.startswith("--") else f"{word[1:]!r} in "
                fail(f"flag needs an argument: {short}{word}")
            yield f"{word}={value}"


def parsed(argv: Sequence[str] | None) -> dict[str, Any]:
    """The settings that a command line names. Ends the process when it cannot be."""
    found, rest = parser().parse_known_args(argv)
    for word in rest:
        if word.startswith("--") and word != "--":
            fail(f"unknown flag: {word.partition('=')[0]}")
        if word.startswith("-") and word not in ("-", "--"):
            fail(f"unknown shorthand flag: {word[1]!r} in {word}")
    if rest := [word for word in rest if word != "--"]:
        fail(f'"hydrofoil serve" does not take any arguments, got [{" ".join(map(values.quoted, rest))}]')
    given: dict[str, Any] = vars(found)
    del given["command"]
    return given


def parser() -> Parser:
    """The command line."""
    top = Parser(prog="hydrofoil", description="A Kubernetes-API-compatible server.")
    top.add_argument("--version", action="version", version=f"hydrofoil {__version__}")
    commands = top.add_subparsers(dest="command", required=True, parser_class=Parser)
    _serve(commands.add_parser("serve", help="serve the API until SIGTERM or SIGINT"))
    return top


def _serve(p: Parser) -> None:
    def add(*names: str, **settings: Any) -> None:
        p.add_argument(*names, action=Flag, **settings)

    add("--host", "--bind-address", default="127.0.0.1", help="address to listen on (default %(default)s)")
    add(
        "--port",
        "--secure-port",
        read=values.port,
        default=8080,
        help="port to listen on; 0: any free one (default %(default)s)",
    )
    add("--tls-cert-file", default="", metavar="FILE", help="serve TLS with this certificate chain")
    add("--tls-private-key-file", default="", metavar="FILE", help="its private key")
    add("--kubeconfig", default="", metavar="FILE", help="write a kubeconfig with the address in use")
    add(
        "--controllers",
        read=controllers,
        default="*",
        metavar="LIST",
        help="namespace, garbagecollector, pvc-protection, pv-protection, vac-protection; "
        "'*': all, '-name': not that one, empty: none (default %(default)s)",
    )
    add(
        "--runtime-config",
        read=values.versions,
        default={},
        metavar="KEY=BOOL,...",
        help="switch group-versions or resources on or off",
    )
    add(
        "--feature-gates",
        read=values.gates,
        default={},
        metavar="KEY=BOOL,...",
        help="switch features on or off: the gates of kube-apiserver",
    )
    add(
        "--service-cluster-ip-range",
        read=cluster_ranges,
        default="10.0.0.0/24",
        metavar="CIDR[,CIDR]",
        help="cluster IPs of services; one of IPv4 and one of IPv6 make dual-stack services (default %(default)s)",
    )
    add(
        "--service-node-port-range",
        read=values.port_range,
        default=(30000, 32767),
        metavar="FROM-TO",
        help="node ports of services (default 30000-32767)",
    )
    add(
        "--service-account-issuer",
        read=values.issuer,
        default="",
        metavar="URL",
        help="issuer of service account tokens",
    )
    add(
        "--max-requests-inflight",
        read=values.amount,
        default=400,
        metavar="N",
        help="reading requests answered at a time; more are told to try again; 0: no limit (default %(default)s)",
    )
    add(
        "--max-mutating-requests-inflight",
        read=values.amount,
        default=200,
        metavar="N",
        help="the same for writing requests (default %(default)s)",
    )
    add(
        "--request-timeout",
        read=values.seconds,
        default=60.0,
        metavar="DURATION",
        help="how long a request may take that is no watch (default 1m)",
    )
    add(
        "--livez-grace-period",
        read=values.period,
        default=0.0,
        metavar="DURATION",
        help="how long after the start /livez passes over what has yet to start (default 0s)",
    )
    add(
        "--shutdown-delay-duration",
        read=values.seconds,
        default=0.0,
        metavar="DURATION",
        help="how long requests are still taken after a signal, while /readyz fails (default 0s)",
    )
    add(
        "--show-hidden-metrics-for-version",
        read=values.hidden_metrics,
        default="",
        metavar="VERSION",
        help="show the metrics that were hidden in this release: 1.35, the one before",
    )
    add(
        "--service-endpoints",
        read=values.endpoints,
        default={},
        metavar="NAMESPACE/NAME=HOST:PORT,...",
        help="where services are reached that conversion webhooks and API services name",
    )
    add(
        "--history-window",
        read=values.span,
        default=300.0,
        metavar="DURATION",
        help="how long past versions stay readable (default 5m)",
    )
    add(
        "--history-events",
        read=values.amount,
        default=200_000,
        metavar="N",
        help="past versions kept a resource at most (default %(default)s)",
    )
    add(
        "--history-bytes",
        read=values.amount,
        default=256 << 20,
        metavar="N",
        help="bytes of past versions kept a resource at most (default %(default)s)",
    )
    add(
        "--list-cache-bytes",
        dest="cache_bytes",
        read=values.amount,
        default=None,
        metavar="N",
        help="bytes of encoded lists kept at most (default: 16 MiB and half of what the objects have)",
    )
    add(
        "--log-format",
        read=values.one_of("text", "json"),
        default="text",
        metavar="text|json",
        help="form of log lines (default %(default)s)",
    )
    add(
        "-v",
        "--v",
        read=values.unsigned,
        default=0,
        metavar="LEVEL",
        dest="verbosity",
        help="verbosity of the log (default %(default)s)",
    )
