"""Instructions per request of a whole server, by callgrind: `python -m bench.requests [CASE...] [--python OTHER]`.

Counts do not depend on other work on the machine, but on where things are in memory and in dicts: those of one server
differ by one to two per cent from those of another one, so that the mean of several with other hashes is shown. One
client sends one request after the other; the status of every answer is checked. `--python` names the interpreter of
another checkout, such as one of an earlier state: it is measured in the same run. As everything takes fifty to several
hundred times as long, audit records are gathered for five seconds: at full speed, too, those of a hundred requests are.
"""

from __future__ import annotations

import argparse
import http.client
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from bench.instructions import PLAIN

REQUESTS = 100
OBJECTS = 100
PATIENCE = 180.0
"""The longest time of a start under callgrind, in seconds."""
MAPS = "/api/v1/namespaces/default/configmaps"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
POLICY = '{"apiVersion":"audit.k8s.io/v1","kind":"Policy","rules":[{"level":"Metadata"}]}'
CODE = """
import importlib, runpy, sys
try:
    log = importlib.import_module("hydrofoil.audit.log")
    log.GATHER_SECONDS = 5.0
except ImportError:
    pass
sys.argv[0] = "hydrofoil"
runpy.run_module("hydrofoil", run_name="__main__")
"""
"""A server that writes as many audit records at once as at full speed."""
TOTAL = re.compile(r"^(?:summary|totals): (\d+)", re.MULTILINE)

CASES: dict[str, tuple[list[str], str]] = {
    "open": ([], ""),
    "plain-limits": (["--enable-priority-and-fairness=false"], ""),
    "audit": (["--audit-policy-file={dir}/policy", "--audit-log-path={dir}/audit.log"], ""),
    "administrator": (["--token-auth-file={dir}/tokens", "--authorization-mode=RBAC"], "admin"),
    "user": (["--token-auth-file={dir}/tokens", "--authorization-mode=RBAC"], "ann"),
}
"""Flags of the server, and the token of the client."""


class Client:
    """One connection; every answer must have the expected status."""

    def __init__(self, url: str, token: str) -> None:
        self._connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
        self._headers = {"Content-Type": "application/json"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"

    def ask(self, method: str, path: str, body: object = None, *, status: int = 200) -> bytes:
        """Send a request; return the body of the answer. Raise ValueError for another status."""
        self._connection.request(method, path, None if body is None else json.dumps(body), self._headers)
        answer = self._connection.getresponse()
        data = answer.read()
        if answer.status != status:
            raise ValueError(f"{method} {path}: {answer.status}")
        return data


def made(name: str) -> object:
    """Return a small object."""
    return {"metadata": {"name": name, "labels": {"app": "x"}}, "data": {"a": "x" * 200}}


@contextmanager
def server(python: str, folder: Path, flags: list[str], seed: int) -> Iterator[tuple[str, int]]:
    """Yield the URL and the process id of a server under callgrind, which counts nothing yet."""
    settings = PLAIN | {"PYTHONHASHSEED": str(seed)}
    line = ["valgrind", "--quiet", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={folder}/out"]
    given = [flag.format(dir=folder) for flag in flags]
    line += [python, "-c", CODE, "serve", "--port=0", "--controllers=", *given]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True, env=settings) as running:
        try:
            assert running.stdout is not None
            said = next(text for text in running.stdout if text.startswith("serving on "))
            yield said.removeprefix("serving on ").strip(), running.pid
        finally:
            running.terminate()


def control(pid: int, *words: str) -> None:
    """Make callgrind count, stop, or write."""
    subprocess.run(["callgrind_control", *words, str(pid)], check=True, capture_output=True, timeout=PATIENCE)


def counted(pid: int, folder: Path, work: Callable[[], None]) -> int:
    """Return the instructions of a server while something is asked of it."""
    known = set(folder.glob("out.*"))
    control(pid, "--zero")
    control(pid, "--instr=on")
    work()
    control(pid, "--dump")
    control(pid, "--instr=off")
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        for path in set(folder.glob("out.*")) - known:
            if found := TOTAL.search(path.read_text(errors="replace")):
                return int(found[1])
    raise TimeoutError("callgrind wrote nothing")


def repeat(work: Callable[[], object]) -> None:
    """Send all requests of a kind."""
    for _ in range(REQUESTS):
        work()


def measured(python: str, case: str, seed: int) -> dict[str, int]:
    """Return the instructions of one request of each kind, with hashes of texts that depend on `seed`."""
    flags, token = CASES[case]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "policy").write_text(POLICY)
        (folder / "tokens").write_text("admin,admin,admin,system:masters\nann,ann,ann\n")
        with server(python, folder, flags, seed) as (url, pid):
            administrator = Client(url, "admin" if token else "")
            for number in range(OBJECTS):
                administrator.ask("POST", MAPS, made(f"m{number}"), status=201)
            if token == "ann":
                rules = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["*"]}]
                administrator.ask(
                    "POST", f"{RBAC}/clusterroles", {"metadata": {"name": "m"}, "rules": rules}, status=201
                )
                ref = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "m"}
                bound = {"metadata": {"name": "m"}, "roleRef": ref, "subjects": [{"kind": "User", "name": "ann"}]}
                administrator.ask("POST", f"{RBAC}/namespaces/default/rolebindings", bound, status=201)
            client = Client(url, token)
            names = iter(range(10**6))
            work: dict[str, Callable[[], object]] = {
                "GET": lambda: client.ask("GET", f"{MAPS}/m1"),
                "LIST": lambda: client.ask("GET", MAPS),
                "create": lambda: client.ask("POST", MAPS, made(f"n{next(names)}"), status=201),
            }
            found = {}
            for kind, one in work.items():
                repeat(one)
                found[kind] = counted(pid, folder, partial(repeat, one)) // REQUESTS
            return found


def main() -> None:
    """Measure the cases, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench.requests", description=__doc__)
    parser.add_argument("cases", nargs="*", default=list(CASES), metavar="CASE", help=", ".join(CASES))
    parser.add_argument("--python", action="append", default=[], help="the interpreter of another checkout")
    parser.add_argument("--rounds", type=int, default=3, help="servers of each case, whose mean is shown")
    given = parser.parse_args()
    print("| server | GET | LIST of 100 | create |\n| --- | ---: | ---: | ---: |")
    for python in [*given.python, sys.executable]:
        first: dict[str, int] = {}
        for case in given.cases:
            rounds = [measured(python, case, seed) for seed in range(given.rounds)]
            found = {kind: sum(one[kind] for one in rounds) // len(rounds) for kind in rounds[0]}
            first = first or found
            shown = " | ".join(f"{n:,} ({100 * n / first[kind] - 100:+.1f} %)" for kind, n in found.items())
            print(f"| {case} | {shown} |", flush=True)


if __name__ == "__main__":
    main()
