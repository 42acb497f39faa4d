"""The server of the options: its address, certificates and credentials."""

from __future__ import annotations

import ipaddress
import os
import socket
import ssl
import sys
from pathlib import Path
from urllib.parse import urlsplit

from hydrofoil import engine
from hydrofoil.bench.credentials import execute_plugin
from hydrofoil.bench.failure import REFUSED, Stopped
from hydrofoil.bench.options import ServerOptions
from hydrofoil.outbound.kubeconfig import Access, access


def find_access(options: ServerOptions) -> Access:
    """Return the server that the flags name. Raise Stopped before anything happens."""
    if options.server and options.kubeconfig:
        raise Stopped("both --server and --kubeconfig are given", "give one of them", REFUSED)
    if options.kubeconfig:
        if options.token or options.insecure_skip_tls_verify:
            raise Stopped(
                "--token and --insecure-skip-tls-verify belong to --server", "the kubeconfig has them", REFUSED
            )
        try:
            return execute_plugin(access(options.kubeconfig, options.context))
        except ValueError as e:
            raise Stopped(str(e), "--kubeconfig takes the file of a cluster", REFUSED) from None
    if not options.server:
        raise Stopped("no server is named", "--server URL or --kubeconfig FILE", REFUSED)
    if options.context:
        raise Stopped("--context belongs to --kubeconfig", "give --kubeconfig FILE", REFUSED)
    if any(ord(c) < 33 or ord(c) > 126 for c in options.token):
        raise Stopped("the token has a character that no header may have", "check --token", REFUSED)
    header = f"Bearer {options.token}" if options.token else ""
    return Access(options.server, b"", options.insecure_skip_tls_verify, b"", b"", header, "", {}, Path())


def host_and_port(access: Access) -> tuple[str, int]:
    """Return the host and the port of a server. Raise Stopped."""
    try:
        parts = urlsplit(access.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError
        if parts.path not in ("", "/") or parts.query or parts.username:
            raise ValueError
        return parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        raise Stopped(f"{access.url!r} is no URL of a server", "such as https://127.0.0.1:6443", REFUSED) from None


def loopback(host: str) -> bool:
    """Report whether a host is this machine, without asking a name server."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def consent(access: Access, yes: bool) -> None:
    """Ask before writing to a server that is not this machine. Raise Stopped without a yes."""
    host, _ = host_and_port(access)
    if yes or loopback(host):
        return
    if sys.stdin.isatty() and sys.stderr.isatty():
        sys.stderr.write(f"{access.url} is not on this machine. Write to it? [y/N] ")
        sys.stderr.flush()
        if sys.stdin.readline().strip().lower() in ("y", "yes"):
            return
    raise Stopped(f"{access.url} is not on this machine", "--yes writes to it", REFUSED)


def target(access: Access) -> engine.ClientTarget:
    """Return the client's form of a server. Raise Stopped if its name or certificates are invalid."""
    host, port = host_and_port(access)
    try:
        infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as e:
        why = e.strerror or str(e) if isinstance(e, OSError) else "no name of a host"
        raise Stopped(f"{host}: {why}", "check --server") from None
    addresses = [(str(info[4][0]).partition("%")[0], int(info[4][1])) for info in infos]
    shown = f"[{host}]" if ":" in host else host
    default = 443 if access.url.startswith("https") else 80
    name = shown if port == default else f"{shown}:{port}"
    tls = None
    if access.url.startswith("https"):
        identity = (access.certificate, access.key) if access.certificate else None
        tls = (access.server_name or host, None if access.insecure else access.ca or system(), identity)
    try:
        return engine.ClientTarget(addresses, name, access.authorization or None, tls)
    except ValueError as e:
        raise Stopped(str(e), "check the certificates", REFUSED) from None


def system() -> bytes:
    """Return the authorities that this machine trusts. Raise Stopped."""
    paths = ssl.get_default_verify_paths()
    for path in (
        os.environ.get("SSL_CERT_FILE"),
        paths.cafile,
        "/etc/ssl/certs/ca-certificates.crt",
        "/etc/ssl/cert.pem",
    ):
        if path and Path(path).is_file():
            return Path(path).read_bytes()
    raise Stopped("this machine has no certificate authorities", "--kubeconfig, or --insecure-skip-tls-verify", REFUSED)
