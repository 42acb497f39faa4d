"""The checks of `hydrofoil doctor`."""

from __future__ import annotations

import json
import os
import platform
import resource
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping
from datetime import timedelta
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

from hydrofoil import __version__
from hydrofoil.clock import Clock

FILES = 65_536
"""Descriptors for which 10,000 watchers leave room."""
FEW = 1024
SOON = timedelta(days=14)
MINOR = 36
"""The minor version of Kubernetes that is served."""
SECONDS = 5
WORKER_MB = 256
"""The memory that each worker should find beside the objects, which all of them share."""
MOST_WORKERS = 63


class Check(NamedTuple):
    """The result of a check."""

    status: str
    """`ok`, `warn` or `fail`."""
    message: str
    mend: str = ""
    check: str = ""


def python(_given: Mapping[str, Any]) -> Check:
    """Check the interpreter."""
    text = f"{platform.python_implementation()} {platform.python_version()} on {platform.system()} {platform.machine()}"
    if sys.platform != "linux":
        return Check("warn", text, "Linux is what it is tested on")
    return Check("ok", text)


def native(_given: Mapping[str, Any]) -> Check:
    """Check the extension."""
    try:
        from hydrofoil import engine
    except ImportError as e:
        return Check("fail", str(e), "pip install --force-reinstall hydrofoil")
    if engine.duration("1s") != 1:
        return Check("fail", "the extension gives wrong answers", "pip install --force-reinstall hydrofoil")
    return Check("ok", f"hydrofoil {__version__}")


def loop(_given: Mapping[str, Any]) -> Check:
    """Check the event loop."""
    try:
        import uvloop
    except ImportError as e:
        return Check("fail", str(e), "pip install uvloop")
    uvloop.new_event_loop().close()
    return Check("ok", f"{metadata.version('uvloop')}, aiohttp {metadata.version('aiohttp')}")


def port(given: Mapping[str, Any]) -> Check:
    """Check that the port is free."""
    number = given["port"]
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", number))
        except OSError as e:
            return Check("warn", f"127.0.0.1:{number}: {e.strerror}", "hydrofoil serve --port 0")
    return Check("ok", f"127.0.0.1:{number} is free")


def open_files(_given: Mapping[str, Any]) -> Check:
    """Check the limit of descriptors; a server raises its own to the hard one."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard == resource.RLIM_INFINITY or hard >= FILES:
        return Check("ok", "unlimited" if hard == resource.RLIM_INFINITY else str(hard))
    return Check("fail" if hard < FEW else "warn", str(hard), f"ulimit -n {FILES}")


def workers(_given: Mapping[str, Any]) -> Check:
    """Say how many workers (`serve --workers`) cores, memory and descriptors allow."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if sys.platform != "linux":
        return Check("warn", "1: this process alone", "--workers needs Linux")
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    bounds = {"cores": cores, "memory": free // WORKER_MB}
    if hard != resource.RLIM_INFINITY:
        bounds["descriptors"] = hard // FEW
    bound = min(bounds, key=lambda name: bounds[name])
    allowed = max(1, min(bounds[bound], MOST_WORKERS))
    given = f"{cores} cores, {free:,} MB of free memory, {'any number of' if len(bounds) < 3 else hard} descriptors"
    return Check("ok", f"{allowed} with {given}: --workers {allowed}" if allowed > 1 else f"1 with {given}")


def ktls(_given: Mapping[str, Any]) -> Check:
    """Check whether the kernel encrypts TLS; the server does it itself, so that nothing depends on it."""
    try:
        found = Path("/proc/sys/net/ipv4/tcp_available_ulp").read_text().split()
    except OSError:
        found = []
    if "tls" in found:
        return Check("ok", "the kernel has it")
    return Check("warn", "not in this kernel; TLS is encrypted in the process", "modprobe tls")


def certificates(given: Mapping[str, Any]) -> Check:
    """Check the certificates that a server made for itself."""
    from hydrofoil.folders import FolderError, state_folder

    try:
        place = Path(given["cert_dir"]) if given["cert_dir"] else state_folder()
    except FolderError as e:
        what, _, mend = str(e).removesuffix(")").partition(" (")
        return Check("fail", what, mend)
    path = place / "apiserver.crt"
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return Check("ok", f"none in {place}; the first server with TLS makes them")
    except OSError as e:
        return Check("fail", f"{path}: {e.strerror}", "--cert-dir takes another folder")
    from cryptography import x509

    try:
        ends = x509.load_pem_x509_certificate(text).not_valid_after_utc
    except ValueError as e:
        return Check("fail", f"{path}: {e}", f"remove {path}")
    now = Clock().now()
    if ends < now:
        return Check("fail", f"{path} ended on {ends:%Y-%m-%d}", "start the server again: it makes a new one")
    if ends < now + SOON:
        return Check("warn", f"{path} ends on {ends:%Y-%m-%d}", "start the server again: it makes a new one")
    loose = [key.name for key in place.glob("*.key") if key.stat().st_mode & 0o077]
    if loose:
        return Check("warn", f"others may read {', '.join(loose)} in {place}", f"chmod 600 {place}/*.key")
    return Check("ok", f"{path} is valid until {ends:%Y-%m-%d}")


def kubectl(_given: Mapping[str, Any]) -> Check:
    """Check the client that most people use."""
    program = shutil.which("kubectl")
    if program is None:
        return Check("warn", "not on the PATH", "install kubectl, or use another client")
    line = [program, "version", "--client", "--output=json"]
    try:
        done = subprocess.run(line, capture_output=True, text=True, timeout=SECONDS, check=True)
        version = json.loads(done.stdout)["clientVersion"]
        text = f"{version['gitVersion']} at {program}"
        minor = int("".join(c for c in version["minor"] if c.isdigit()))
    except (OSError, subprocess.SubprocessError, ValueError, KeyError) as e:
        return Check("warn", f"{program} does not answer: {e}", "install kubectl again")
    if abs(minor - MINOR) > 1:
        return Check("warn", text, f"kubectl 1.{MINOR - 1} to 1.{MINOR + 1} are supported with Kubernetes 1.{MINOR}")
    return Check("ok", text)


def descriptions(_given: Mapping[str, Any]) -> Check:
    """Check whether `kubectl explain` has descriptions."""
    try:
        return Check("ok", f"lightkube-models {metadata.version('lightkube-models')}")
    except metadata.PackageNotFoundError:
        return Check("ok", "kubectl explain shows <empty> (pip install 'hydrofoil[docs]' brings descriptions)")


CHECKS: dict[str, Callable[[Mapping[str, Any]], Check]] = {
    "python": python,
    "native": native,
    "uvloop": loop,
    "port": port,
    "open-files": open_files,
    "workers": workers,
    "ktls": ktls,
    "certificates": certificates,
    "kubectl": kubectl,
    "descriptions": descriptions,
}
