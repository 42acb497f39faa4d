"""Run upstream's own specs of the API machinery (k8s.io/kubernetes, test/e2e/apimachinery) against a fresh server.

kube-controller-manager runs beside it, as quotas, cron jobs, deployments and the types of admission policies are its
work. There is one node, and nothing that runs pods. Specs that are left out or known to fail are in `known.toml` with
their reasons; a failure that is not known there makes the exit status 1, and so does a run without results.

    make e2e
    make e2e FOCUS='Garbage collector'
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
import tomllib
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.clients.controllers import beside, found

HERE = Path(__file__).parent
NODE = "only"
RESOURCES = {"cpu": "8", "memory": "16Gi", "pods": "110"}
TIMEOUT = "30m"
HISTORY = "90s"
"""How long continue tokens hold: a spec waits for the end of one, by default more than five minutes."""
CONTROLLERS = "--controllers=*,-node-lifecycle-controller"
"""No kubelet renews the lease of the node."""


@dataclass
class Outcome:
    """Names of specs by how they ended."""

    passed: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    """And the message of each."""


@contextmanager
def serving(kubeconfig: Path, log: Path) -> Iterator[str]:
    """Run a server on a free port; yield its URL."""
    line = [sys.executable, "-m", "hydrofoil", "serve", "--port", "0", "--kubeconfig", str(kubeconfig)]
    line += ["--history-window", HISTORY]
    with log.open("w") as out, subprocess.Popen(line, stdout=subprocess.PIPE, stderr=out, text=True) as running:
        assert running.stdout is not None
        try:
            for stated in running.stdout:
                if address := re.fullmatch(r"serving on (\S+)\n", stated):
                    yield address[1]
                    return
            raise RuntimeError(f"the server did not start; see {log}")
        finally:
            running.terminate()


def call(method: str, url: str, body: dict[str, Any], kind: str = "application/json") -> None:
    """Send JSON in a write request."""
    asked = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": kind}, method=method)
    with urllib.request.urlopen(asked) as answer:
        answer.read()


def add_node(server: str) -> None:
    """Create a node that is ready; admission taints a new one."""
    status = {
        "capacity": RESOURCES,
        "allocatable": RESOURCES,
        "conditions": [{"type": "Ready", "status": "True", "reason": "Seeded"}],
    }
    nodes = f"{server}/api/v1/nodes"
    call("POST", nodes, {"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE}, "status": status})
    call("PATCH", f"{nodes}/{NODE}", {"spec": {"taints": None}}, "application/merge-patch+json")


def outcome(report: Path) -> Outcome:
    """Return the outcome in a report of Ginkgo."""
    found = Outcome()
    for suite in json.loads(report.read_text()):
        for spec in suite["SpecReports"] or ():
            name = " ".join([*(spec["ContainerHierarchyTexts"] or ()), spec["LeafNodeText"]]).strip()
            name = name or spec["LeafNodeType"]
            if spec["State"] == "passed" and spec["LeafNodeType"] == "It":
                found.passed.append(name)
            elif spec["State"] not in ("passed", "skipped", "pending"):
                message = spec.get("Failure", {}).get("Message", spec["State"])
                found.failed[name] = message.strip().partition("\n")[0]
    return found


def specs(kubeconfig: Path, where: Path, focus: str, skipped: list[str], procs: int) -> Outcome:
    """Run the specs, several at a time."""
    ginkgo, binary = found("ginkgo"), found("e2e.test")
    if ginkgo is None or binary is None:
        raise SystemExit("ginkgo and e2e.test are missing: make e2e builds them")
    line = [ginkgo, f"--procs={procs}", "--no-color", f"--focus={focus}", f"--skip={'|'.join(skipped)}"]
    line += [f"--timeout={TIMEOUT}", "--json-report=report.json", f"--output-dir={where}", binary, "--"]
    line += [f"--kubeconfig={kubeconfig}", "--provider=skeleton", "--allowed-not-ready-nodes=-1", "--minStartupPods=0"]
    report = where / "report.json"
    report.unlink(missing_ok=True)
    with (where / "specs.log").open("w") as out:
        subprocess.run(line, stdout=out, stderr=subprocess.STDOUT, check=False, cwd=where)
    if not report.exists():
        raise SystemExit(f"no specs were run; see {where / 'specs.log'}")
    return outcome(report)


def reported(found: Outcome, known: dict[str, str]) -> int:
    """Print the outcome; return the exit status."""
    expected = {name: why for name, why in known.items() if name in found.failed}
    new = {name: message for name, message in found.failed.items() if name not in known}
    print(f"{len(found.passed)} passed, {len(expected)} failed as expected, {len(new)} failed")
    for name in sorted(found.passed):
        print(f"passed: {name}{' (listed in known.toml as a failure)' if name in known else ''}")
    for name, why in sorted(expected.items()):
        print(f"expected: {name}\n    {why}")
    for name, message in sorted(new.items()):
        print(f"FAILED: {name}\n    {message}")
    return 1 if new or not found.passed else 0


def main() -> int:
    """One run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--focus", default="", help="a regular expression that names of specs are to match")
    parser.add_argument("--out", type=Path, default=Path(".cache/e2e"), help="where logs and the report go")
    parser.add_argument("--procs", type=int, default=6, help="specs at once")
    chosen = parser.parse_args()
    where: Path = chosen.out.resolve()
    where.mkdir(parents=True, exist_ok=True)
    lists = tomllib.loads((HERE / "known.toml").read_text())
    skipped = [entry["pattern"] for entry in lists["skipped"]]
    known = {entry["name"]: entry["reason"] for entry in lists["known"]}
    manager = found("kube-controller-manager")
    if manager is None:
        raise SystemExit("kube-controller-manager is missing: make binaries")
    kubeconfig = where / "kubeconfig"
    plugins = f"--flex-volume-plugin-dir={where / 'plugins'}"
    began = time.monotonic()
    with serving(kubeconfig, where / "server.log") as server:
        add_node(server)
        with beside(manager, kubeconfig, where / "controllers.log", CONTROLLERS, plugins):
            focus = rf"\[sig-api-machinery\].*{chosen.focus}"
            ended = specs(kubeconfig, where, focus, skipped, chosen.procs)
    status = reported(ended, known)
    print(f"{time.monotonic() - began:.0f} s; logs are in {where}")
    return status


if __name__ == "__main__":
    sys.exit(main())
