"""The flags of the process: its address, start, end, log and metrics."""

from __future__ import annotations

from msgspec import Struct

from hydrofoil.go_text import quote
from hydrofoil.options import (
    Options,
    Refused,
    Texts,
    anything,
    boolean,
    flag,
    integer,
    once,
    one_of,
    parse_unsigned,
    period,
    seconds,
    words,
)

SUITES = frozenset(
    (
        "TLS_AES_128_GCM_SHA256",
        "TLS_AES_256_GCM_SHA384",
        "TLS_CHACHA20_POLY1305_SHA256",
        "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
        "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
        "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
        "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
        "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305",
        "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
        "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305",
        "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
        "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
        "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
        "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
        "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
        "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256",
        "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256",
        "TLS_ECDHE_ECDSA_WITH_RC4_128_SHA",
        "TLS_ECDHE_RSA_WITH_RC4_128_SHA",
        "TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA",
        "TLS_RSA_WITH_AES_128_GCM_SHA256",
        "TLS_RSA_WITH_AES_256_GCM_SHA384",
        "TLS_RSA_WITH_AES_128_CBC_SHA",
        "TLS_RSA_WITH_AES_256_CBC_SHA",
        "TLS_RSA_WITH_AES_128_CBC_SHA256",
        "TLS_RSA_WITH_3DES_EDE_CBC_SHA",
        "TLS_RSA_WITH_RC4_128_SHA",
    )
)
"""The names that upstream knows. Those with CBC, RC4 or without forward secrecy are accepted, and never offered."""


def port(text: str) -> int:
    """Read a port to listen on; 0 selects any free one."""
    number = integer(text)
    if not 0 <= number < 65536:
        # Upstream's message; here 0 has a meaning of its own.
        why = "must be between 1 and 65535, inclusive. It cannot be turned off with 0, which takes any free port"
        raise Refused(f"<flag> {number} {why}")
    return number


class NamedPair(Struct, frozen=True):
    """A certificate for clients that ask for some names."""

    cert: str
    key: str
    names: tuple[str, ...]
    """Empty: those in the certificate."""


def named_pair(text: str) -> NamedPair:
    """Read `cert,key` or `cert,key:name,...` (component-base `NamedCertKey`). Raise ValueError."""
    files, colon, rest = (part.strip() for part in text.partition(":"))
    if colon and not rest:
        raise ValueError("empty names list is not allowed")
    parts = files.split(",")
    if len(parts) != 2:
        raise ValueError("expected comma separated certificate and key file paths")
    names = tuple(name.strip() for name in rest.split(",")) if rest else ()
    return NamedPair(parts[0], parts[1], names)


def named_pairs(text: str) -> Texts:
    """Read one value of `--tls-sni-cert-key`. Raise ValueError."""
    named_pair(text)
    return Texts((text,))


def suites(text: str) -> Texts:
    """Read names of cipher suites (component-base `TLSCipherSuites`)."""
    found = words(text)
    for name in found:
        if name not in SUITES:
            raise Refused(f"Cipher suite {name} not supported or doesn't exist")
    return found


def tls_version(text: str) -> str:
    """Read the least version of TLS (component-base `TLSVersion`)."""
    if text in ("VersionTLS10", "VersionTLS11"):
        raise Refused(f"<flag> {text} is not secure: use VersionTLS12 or VersionTLS13")
    if text not in ("", "VersionTLS12", "VersionTLS13"):
        raise Refused(f"unknown tls version {quote(text)}")
    return text


def hidden_metrics(text: str) -> str:
    """Read the version whose hidden metrics are shown: the previous one (component-base `metrics`)."""
    if text not in ("", "1.35"):
        why = "must be omitted or have the value '1.35'; only the previous minor version is allowed"
        raise Refused(f"metrics.showHiddenMetricsForVersion: Invalid value: {quote(text)}: {why}")
    return text


def descriptor(text: str) -> int:
    """Read the number of an open descriptor."""
    number = integer(text)
    if number < 0:
        raise Refused(f"<flag> {number} must not be negative")
    return number


def chance(text: str) -> float:
    """Read the part of requests whose connection ends."""
    try:
        found = float(text)
    except ValueError:
        raise ValueError(f"strconv.ParseFloat: parsing {quote(text)}: invalid syntax") from None
    if not 0 <= found <= 0.02:
        raise Refused("<flag> can not be less than 0 or greater than 0.02")
    return found


class ListenOptions(Options):
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
    accept_hosts: Texts = flag(
        "--accept-hosts",
        Texts(),
        words,
        "further names in Host and Origin that a server without credentials answers, such as *.example.com",
        value="PATTERN,...",
    )
    tls_cert_file: str = flag("--tls-cert-file", "", anything, "serve TLS with this certificate chain", value="FILE")
    tls_private_key_file: str = flag("--tls-private-key-file", "", anything, "its private key", value="FILE")
    tls_sni_cert_key: Texts = flag(
        "--tls-sni-cert-key",
        Texts(),
        named_pairs,
        "certificate and key for clients that ask for these names; may be repeated",
        value="CERT,KEY[:NAMES]",
    )
    tls_min_version: str = flag(
        "--tls-min-version", "VersionTLS12", tls_version, "VersionTLS12 or VersionTLS13 (default {})", value="VERSION"
    )
    tls_cipher_suites: Texts = flag(
        "--tls-cipher-suites", Texts(), suites, "cipher suites of TLS 1.2 (default all secure ones)", value="SUITES"
    )
    cert_dir: str = flag(
        "--cert-dir",
        "",
        anything,
        "serve TLS, and keep generated certificates here (default ~/.local/state/hydrofoil unless on loopback)",
        value="DIR",
    )
    unix_socket: str = flag(
        "--unix-socket", "", anything, "listen on this socket of its owner instead of an address", value="PATH"
    )
    kubeconfig: str = flag(
        "--kubeconfig", "", anything, "add a context for this server to a kubeconfig, or write a new one", value="FILE"
    )
    set_context: bool = flag(
        "--set-context",
        False,
        boolean,
        "make it the current context of a kubeconfig that has another one",
        value="BOOL",
    )
    request_memos: bool = flag(
        "--request-memos",
        True,
        boolean,
        "answer requests like one before without parsing and deciding all anew (default true)",
        value="BOOL",
    )
    header_timeout: float = 32.0
    """The time limit in seconds for the first request of a connection (apiserver `secure_serving.go`)."""
    idle_timeout: float = 90.0
    """The time limit in seconds for the next request of a connection (the same); no less than the former."""


class ManifestOptions(Options):
    """Objects at the start."""

    manifests: Texts = flag(
        "--manifests",
        Texts(),
        once,
        "apply this file or folder of YAML and JSON before the server is ready; may be repeated",
        value="PATH",
    )
    watch_manifests: bool = flag(
        "--watch-manifests",
        False,
        boolean,
        "also apply what changes in these files, and delete what it applied and no file has any more",
        value="BOOL",
    )


class DumpOptions(Options):
    """Objects of a dump."""

    from_dump: str = flag(
        "--from",
        "",
        anything,
        "begin with the objects of a dump, in memory: of hydrofoil export, or what hydrofoil import takes",
        value="DUMP",
    )
    read_only: bool = flag(
        "--read-only",
        False,
        boolean,
        "only show the dump: every write is refused, no controller runs, and nothing expires",
        value="BOOL",
    )


class PageOptions(Options):
    """The page to look at."""

    ui: bool = flag(
        "--ui",
        False,
        boolean,
        "serve a page at /ui/ that shows what the server holds and does, to those who may see it",
        value="BOOL",
    )


class LifeOptions(Options):
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
    profiling: bool = flag(
        "--profiling", True, boolean, "serve the pages below /debug/pprof and /debug/flags (default true)", value="BOOL"
    )
    goaway_chance: float = flag(
        "--goaway-chance", 0.0, chance, "accepted for compatibility: only HTTP/2 has GOAWAY (default 0)", value="RATE"
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
    verbosity: int = flag(
        "-v",
        0,
        parse_unsigned,
        "verbosity of the log: 0 warnings, 1 also what controllers do, 3 each request, 4 details (default {})",
        value="LEVEL",
        also=("--v",),
    )
    ready_fd: int = flag(
        "--ready-fd",
        -1,
        descriptor,
        "write the line `serving on URL` to this descriptor once requests are answered, and close it",
        value="NUMBER",
    )
