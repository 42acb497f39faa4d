"""`hydrofoil bench --against`: starts two servers on this machine, measures both and compares them."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from hydrofoil.bench.failure import REFUSED, Stopped
from hydrofoil.bench.options import BenchOptions
from hydrofoil.bench.rivals import compare_servers
from hydrofoil.bench.starting import Started, hydrofoil, kube_apiserver
from hydrofoil.options import Texts

OWN = "hydrofoil"
UPSTREAM = "kube-apiserver"


def run(options: BenchOptions, cases: Sequence[str]) -> int:
    """Measure this server, or that of --server, and another, in turn; return the exit code. Raise Stopped."""
    # Both programs are looked for before either is started.
    other = program(options.against)
    if options.pid and not (options.server or options.kubeconfig):
        raise Stopped("--pid belongs to --server", "servers that are started here are known", REFUSED)
    given = bool(options.server or options.kubeconfig)
    first = (options.label or OWN, None if given else [sys.executable, "-m", "hydrofoil"])
    with ExitStack() as stack:
        servers: list[BenchOptions] = []
        for name, line in (first, other):
            chosen = options if line is None else stack.enter_context(run_server(options, line))
            servers.append(chosen.replaced(label=name if not servers or name != first[0] else f"{name} (2)"))
        return compare_servers(servers, cases)


def program(wanted: str) -> tuple[str, list[str]]:
    """Return the name of the other server, and the line that starts it. Raise Stopped if it is not found."""
    if wanted == OWN:
        return OWN, [sys.executable, "-m", "hydrofoil"]
    path = find(wanted)
    if path is None:
        raise Stopped(f"{wanted} is not found", "put it on the PATH, or set KUBEBUILDER_ASSETS", REFUSED)
    if OWN in Path(path).name:
        return Path(path).name, [path]
    if etcd(path) is None:
        raise Stopped("etcd is not found", "kube-apiserver needs one on the PATH or beside it", REFUSED)
    return Path(path).name, [path]


def find(name: str) -> str | None:
    """Return the path of a program: as given, in the folder of KUBEBUILDER_ASSETS, or on the PATH."""
    if "/" in name:
        return name if os.access(name, os.X_OK) else None
    assets = os.environ.get("KUBEBUILDER_ASSETS", "")
    return shutil.which(name, path=assets) if assets and shutil.which(name, path=assets) else shutil.which(name)


def etcd(path: str) -> str | None:
    """Return the etcd for a kube-apiserver: the one beside it, else as any program."""
    beside = Path(path).parent / "etcd"
    return str(beside) if os.access(beside, os.X_OK) else find("etcd")


@contextmanager
def run_server(options: BenchOptions, line: list[str]) -> Iterator[BenchOptions]:
    """Run a server; yield the options that name it."""
    with tempfile.TemporaryDirectory(prefix="hydrofoil-bench-") as folder, ExitStack() as stack:
        if OWN in Path(line[-1]).name:
            server = stack.enter_context(hydrofoil(line, Path(folder)))
        else:
            server = stack.enter_context(kube_apiserver(line[0], str(etcd(line[0])), Path(folder)))
        yield of(options, server)


def of(options: BenchOptions, server: Started) -> BenchOptions:
    """Return options for a server that was started."""
    pids = Texts(str(pid) for pid in server.pids)
    named = options.replaced(server=server.url, kubeconfig="", context="", pid=pids)
    return named.replaced(token=server.token, insecure_skip_tls_verify=True)
