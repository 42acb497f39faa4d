"""The flags of the process: its address, start, end, log and metrics."""

from __future__ import annotations

from dataclasses import dataclass

from hydrofoil.options import Refused, anything, flag, integer, one_of, period, quoted, seconds, unsigned


def port(text: str) -> int:
    """Read a port to listen on; 0 selects any free one."""
    number = integer(text)
    if not 0 <= number < 65536:
        # Upstream's message; here 0 has a meaning of its own.
        why = "must be between 1 and 65535, inclusive. It cannot be turned off with 0, which takes any free port"
        raise Refused(f"<flag> {number} {why}")
    return number


def hidden_metrics(text: str) -> str:
    """Read the version whose hidden metrics are shown: the previous one (component-base `metrics`)."""
    if text not in ("", "1.35"):
        why = "must be omitted or have the value '1.35'; only the previous minor version is allowed"
        raise Refused(f"metrics.showHiddenMetricsForVersion: Invalid value: {quoted(text)}: {why}")
    return text


@dataclass(frozen=True, kw_only=True)
class ListenOptions:
    """Addresses, TLS and connections of a server."""

    host: str = flag(
        "--host", "127.0.0.1", anything, "address to listen on (default {})", value="HOST", also=("--bind-address",)
    )
    port: int = flag(
        "--port",
        8080,
        port,
        "port to listen on; 0: any free one (default {})",
        value="PORT",
        also=("--secure-port",),
    )
    tls_cert_file: str = flag("--tls-cert-file", "", anything, "serve TLS with this certificate chain", value="FILE")
    tls_private_key_file: str = flag("--tls-private-key-file", "", anything, "its private key", value="FILE")
    kubeconfig: str = flag("--kubeconfig", "", anything, "write a kubeconfig with the address in use", value="FILE")
    header_timeout: float = 32.0
    """The time limit in seconds for the first request of a connection (apiserver `secure_serving.go`)."""
    idle_timeout: float = 90.0
    """The time limit in seconds for the next request of a connection (the same); no less than the former."""


@dataclass(frozen=True, kw_only=True)
class LifeOptions:
    """Start and end of a server, log, and metrics."""

    livez_grace_period: float = flag(
        "--livez-grace-period",
        0.0,
        period,
        "how long after the start /livez passes over what has yet to start (default 0s)",
        value="DURATION",
    )
    shutdown_delay_duration: float = flag(
        "--shutdown-delay-duration",
        0.0,
        seconds,
        "how long requests are still taken after a signal, while /readyz fails (default 0s)",
        value="DURATION",
    )
    show_hidden_metrics_for_version: str = flag(
        "--show-hidden-metrics-for-version",
        "",
        hidden_metrics,
        "show the metrics that were hidden in this release: 1.35, the one before",
        value="VERSION",
    )
    log_format: str = flag(
        "--log-format", "text", one_of("text", "json"), "form of log lines (default {})", value="text|json"
    )
    verbosity: int = flag("-v", 0, unsigned, "verbosity of the log (default {})", value="LEVEL", also=("--v",))
