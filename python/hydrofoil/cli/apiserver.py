"""A program that is started in place of kube-apiserver: its flags, in both spellings, and its exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence

from hydrofoil.cli.sources import variable

BOOLEAN = frozenset(
    (
        "add-dir-header",
        "aggregator-reject-forwarding-redirect",
        "alsologtostderr",
        "audit-log-compress",
        "contention-profiling",
        "disable-http2-serving",
        "emulation-forward-compatible",
        "enable-aggregator-routing",
        "enable-garbage-collector",
        "enable-logs-handler",
        "enable-priority-and-fairness",
        "encryption-provider-config-automatic-reload",
        "log-json-split-stream",
        "log-text-split-stream",
        "logtostderr",
        "one-output",
        "permit-address-sharing",
        "permit-port-sharing",
        "profiling",
        "runtime-config-emulation-forward-compatible",
        "service-account-extend-token-expiration",
        "shutdown-send-retry-after",
        "skip-headers",
        "skip-log-headers",
        "watch-cache",
    )
)
"""Flags of kube-apiserver without a meaning here that need no value."""
VALUED = frozenset(
    (
        "advertise-address",
        "allow-metric-labels",
        "allow-metric-labels-manifest",
        "apiserver-count",
        "authentication-token-webhook-cache-ttl",
        "cloud-config",
        "cloud-provider",
        "cloud-provider-gce-l7lb-src-cidrs",
        "coordinated-leadership-lease-duration",
        "coordinated-leadership-renew-deadline",
        "coordinated-leadership-retry-period",
        "cors-allowed-origins",
        "debug-socket-path",
        "default-not-ready-toleration-seconds",
        "default-unreachable-toleration-seconds",
        "default-watch-cache-size",
        "delete-collection-workers",
        "disabled-metrics",
        "egress-selector-config-file",
        "emulated-version",
        "encryption-provider-config",
        "endpoint-reconciler-type",
        "etcd-cafile",
        "etcd-certfile",
        "etcd-compaction-interval",
        "etcd-count-metric-poll-period",
        "etcd-db-metric-poll-interval",
        "etcd-healthcheck-timeout",
        "etcd-keyfile",
        "etcd-prefix",
        "etcd-readycheck-timeout",
        "etcd-servers",
        "etcd-servers-overrides",
        "event-ttl",
        "external-hostname",
        "goaway-chance",
        "http2-max-streams-per-connection",
        "identity-lease-duration-seconds",
        "identity-lease-renew-interval-seconds",
        "kubelet-certificate-authority",
        "kubelet-client-certificate",
        "kubelet-client-key",
        "kubelet-port",
        "kubelet-preferred-address-types",
        "kubelet-read-only-port",
        "kubelet-timeout",
        "kubernetes-service-node-port",
        "lease-reuse-duration-seconds",
        "log-backtrace-at",
        "log-dir",
        "log-file",
        "log-file-max-size",
        "log-flush-frequency",
        "log-json-info-buffer-size",
        "log-text-info-buffer-size",
        "logging-format",
        "master-service-namespace",
        "max-connection-bytes-per-sec",
        "min-compatibility-version",
        "min-request-timeout",
        "oidc-signing-algs",
        "peer-advertise-ip",
        "peer-advertise-port",
        "peer-ca-file",
        "proxy-client-cert-file",
        "proxy-client-key-file",
        "service-account-signing-endpoint",
        "shutdown-watch-termination-grace-period",
        "stderrthreshold",
        "storage-backend",
        "storage-initialization-timeout",
        "storage-media-type",
        "strict-transport-security-directives",
        "target-ram-mb",
        "vmodule",
        "watch-cache-sizes",
    )
)
"""Flags of kube-apiserver without a meaning here that have a value."""
HELP = """Usage: kube-apiserver [flags]

Hydrofoil in place of kube-apiserver: it keeps its objects itself and needs no etcd. Flags are those of kube-apiserver;
known ones without a meaning here are accepted. `hydrofoil serve --help` describes the others:

"""


class Unknown(Exception):
    """A command line that is refused, with one line."""


def known_flags() -> dict[str, bool]:
    """Return the flags of `serve`, and whether each needs no value; those of etcd have no meaning here."""
    from hydrofoil.options import flags
    from hydrofoil.server.config import ROOMS

    found = {}
    for room in ROOMS:
        for flag in flags(room):
            for name in flag.names:
                if not name.startswith("--etcd-"):
                    found[name] = flag.value == "BOOL"
    return found


def translate_words(words: Sequence[str], flags: dict[str, bool]) -> Iterator[str]:
    """Yield the words for `serve`. Raise Unknown."""
    rest = list(words)
    while rest:
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        bare = name.lstrip("-")
        if not name.startswith("-") or not bare:
            raise Unknown(f'"kube-apiserver" does not take any arguments, got ["{word}"]')
        # Go's flags may be written with `_` (`WordSepNormalizeFunc`).
        spelled = name if not name.startswith("--") else f"--{bare.replace('_', '-')}"
        if spelled in flags:
            needs_none = flags[spelled]
        elif bare.replace("_", "-") in BOOLEAN:
            needs_none = True
        elif bare.replace("_", "-") in VALUED:
            needs_none = False
        else:
            raise Unknown(f"unknown flag: {name}")
        if not equals and not needs_none:
            if not rest:
                raise Unknown(f"flag needs an argument: {name}")
            value = rest.pop(0)
        if spelled in flags:
            yield f"{spelled}={value}" if equals or not needs_none else spelled


def add_defaults(words: list[str]) -> list[str]:
    """Return the words with kube-apiserver's defaults where these differ from those of `serve`.

    A setting of the environment is the user's, as a flag is.
    """
    names = {word.partition("=")[0] for word in words}

    def has(*flags: str) -> bool:
        return any(flag in names or variable(flag) in os.environ for flag in flags)

    added = []
    if not has("--controllers", "--cluster"):
        added.append("--controllers=")
    if not has("--port", "--secure-port"):
        added.append("--secure-port=6443")
    if not has("--cert-dir", "--tls-cert-file"):
        from hydrofoil.folders import state_folder

        added.append(f"--cert-dir={state_folder()}")
    if not has("--authorization-mode", "--authorization-config"):
        added.append("--authorization-mode=AlwaysAllow")
    return ["serve", *added, *words]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program; return the exit code."""
    words = sys.argv[1:] if argv is None else list(argv)
    flags = known_flags()
    if any(word in ("--help", "-h") for word in words):
        lines = "\n".join(f"      {name}" for name in sorted(flags))
        sys.stdout.write(f"{HELP}{lines}\n")
        return 0
    if any(word.partition("=")[0] == "--version" for word in words):
        from hydrofoil import __version__

        sys.stdout.write(f"Kubernetes v1.36.1+hydrofoil.{__version__}\n")
        return 0
    from hydrofoil.folders import FolderError

    try:
        line = add_defaults(list(translate_words(words, flags)))
    except (Unknown, FolderError) as e:
        sys.stderr.write(f"Error: {e}\n")
        return 1
    from hydrofoil.cli.drop_in import COMMANDS
    from hydrofoil.cli.failure import INTERRUPTED
    from hydrofoil.cli.main import main as run

    # kube-apiserver writes nothing to its standard output.
    sys.stdout = sys.stderr
    code = run(line, COMMANDS)
    # kube-apiserver ends alike after both signals (`SetupSignalHandler`).
    return 0 if code == INTERRUPTED else code


if __name__ == "__main__":
    sys.exit(main())
