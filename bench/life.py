"""A cluster that lives: one Deployment is rolled out and updated, `python -m bench.life [--replicas 1000]`.

Beside the real four (kube-apiserver, etcd, kube-controller-manager, kube-scheduler, and nodes simulated by another
program): `--against URL --token T --pids 1,2,3,4` measures that cluster in the same run, by the CPU of its processes.

Every pod is followed by a watch: it has to be created, bound and running in this order, and nothing may be skipped. In
the end the objects are compared with what the deployment asks for.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

Object = dict[str, Any]
ROOM = 100
"""The pods of one node: fewer than it has room for."""
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
PODS = "/api/v1/namespaces/default/pods"
STRATEGIC = "application/strategic-merge-patch+json"
PATIENCE = 120.0
LOOK = 0.02


class Cluster(NamedTuple):
    """A server to measure, and its processes."""

    name: str
    url: str
    token: str
    pids: tuple[int, ...]

    def ask(self, method: str, path: str, body: Object | None = None, media: str = "application/json") -> Object:
        """Return the answer to a request."""
        parts = urlsplit(self.url)
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)
        headers = {"Content-Type": media, **({"Authorization": f"Bearer {self.token}"} if self.token else {})}
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        found: Object = json.loads(answer.read())
        connection.close()
        if answer.status >= 300 and answer.status != 404:
            raise SystemExit(f"{method} {path}: {answer.status} {found.get('message')}")
        return found

    def cpu(self) -> float:
        """Return the seconds of CPU that all processes have taken."""
        ticks = 0
        for pid in self.pids:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def memory(self) -> float:
        """Return the resident memory of all processes in MB."""
        pages = sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in self.pids)
        return pages * 4096 / 1e6


class Watch:
    """The pods of a namespace, as a client sees them."""

    def __init__(self, cluster: Cluster) -> None:
        parts = urlsplit(cluster.url)
        self._connection = http.client.HTTPConnection(parts.hostname or "", parts.port)
        version = cluster.ask("GET", PODS)["metadata"]["resourceVersion"]
        headers = {"Authorization": f"Bearer {cluster.token}"} if cluster.token else {}
        self._connection.request("GET", f"{PODS}?watch=1&resourceVersion={version}", headers=headers)
        self._answer = self._connection.getresponse()
        self.seen: dict[str, list[str]] = {}
        """What happened to each pod, in its order, by name."""
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        try:
            while line := self._answer.readline():
                event = json.loads(line)
                item = event["object"]
                happened = self.seen.setdefault(item["metadata"]["name"], [])
                for word in self._words(event["type"], item):
                    if word not in happened:
                        happened.append(word)
        except (OSError, ValueError, AttributeError):
            pass

    def _words(self, kind: str, item: Object) -> Iterator[str]:
        yield "created"
        if item["spec"].get("nodeName"):
            yield "bound"
        if item["status"].get("phase") == "Running":
            yield "running"
        if kind == "DELETED":
            yield "removed"

    def check(self, count: int) -> None:
        """Fail unless so many pods were seen, each with every step in its order, as an event of its own."""
        ran = [name for name, words in self.seen.items() if words[:3] == ["created", "bound", "running"]]
        if len(ran) != count or len(self.seen) != count:
            raise SystemExit(f"{len(ran)} of {len(self.seen)} pods were seen in every step, {count} were to be")

    def close(self) -> None:
        """End the watch."""
        if self._connection.sock is not None:
            self._connection.sock.close()


def deployment(replicas: int) -> Object:
    """Return the deployment."""
    container = {"name": "main", "image": "x:1", "resources": {"requests": {"cpu": "10m", "memory": "10Mi"}}}
    template = {"metadata": {"labels": {"app": "bench"}}, "spec": {"containers": [container]}}
    spec = {"replicas": replicas, "selector": {"matchLabels": {"app": "bench"}}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "bench"}, "spec": spec}


def await_rollout(cluster: Cluster, replicas: int) -> None:
    """Wait until all replicas are updated and available, and no others exist."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        item = cluster.ask("GET", f"{DEPLOYMENTS}/bench")
        status = item.get("status", {})
        counts = [status.get(name, 0) for name in ("replicas", "updatedReplicas", "availableReplicas")]
        if counts == [replicas] * 3 and status["observedGeneration"] == item["metadata"]["generation"]:
            return
        time.sleep(LOOK)
    raise SystemExit(f"{cluster.name}: the rollout has not ended: {status}")


def measure(cluster: Cluster, replicas: int) -> None:
    """Roll a deployment out, update it, and print what that took."""
    watch = Watch(cluster)
    acts: dict[str, tuple[str, str, Object, str]] = {
        "ready": ("POST", DEPLOYMENTS, deployment(replicas), "application/json"),
        "updated": ("PATCH", f"{DEPLOYMENTS}/bench", IMAGE, STRATEGIC),
    }
    for what, request in acts.items():
        begun, cpu = time.monotonic(), cluster.cpu()
        cluster.ask(*request)
        await_rollout(cluster, replicas)
        seconds, used = time.monotonic() - begun, cluster.cpu() - cpu
        sys.stdout.write(
            f"{cluster.name:16} {replicas} replicas {what}: {seconds:6.2f} s, {used:6.2f} CPU s, "
            f"{used / replicas * 1e6:6.0f} us of CPU a pod, {cluster.memory():6.1f} MB\n"
        )
        # What is on its way.
        time.sleep(1)
        if what == "ready":
            watch.check(replicas)
    watch.close()
    pods = cluster.ask("GET", f"{PODS}?labelSelector=app%3Dbench")["items"]
    live = [item for item in pods if "deletionTimestamp" not in item["metadata"]]
    good = [i for i in live if i["status"]["phase"] == "Running" and i["spec"]["containers"][0]["image"] == "x:2"]
    addresses = {item["status"]["podIP"] for item in good}
    if not len(good) == len(live) == len(addresses) == replicas:
        raise SystemExit(f"{cluster.name}: {len(good)} of {len(live)} pods are as the deployment asks")
    cpu = cluster.cpu()
    time.sleep(5)
    sys.stdout.write(f"{cluster.name:16} at rest: {(cluster.cpu() - cpu) / 5:.1%} of a core\n")
    cluster.ask("DELETE", f"{DEPLOYMENTS}/bench", {"propagationPolicy": "Background"})


IMAGE = {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "x:2"}]}}}}


@contextmanager
def serve(nodes: int) -> Iterator[Cluster]:
    """Yield a server with simulated nodes in a process of its own."""
    words = [sys.executable, "-m", "hydrofoil", "serve", "--port=0", f"--cluster={nodes}"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        try:
            line = next(line for line in running.stdout if line.startswith("serving on "))
            yield Cluster("hydrofoil", line.removeprefix("serving on ").strip(), "", (running.pid,))
        finally:
            running.terminate()


def main(argv: Sequence[str] | None = None) -> None:
    """Measure."""
    parser = argparse.ArgumentParser(prog="python -m bench.life", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--replicas", type=int, default=1000)
    parser.add_argument("--against", metavar="URL", default="")
    parser.add_argument("--token", default="")
    parser.add_argument("--pids", default="")
    given = parser.parse_args(argv)
    with serve(max(3, given.replicas * 3 // (2 * ROOM) + 1)) as cluster:
        measure(cluster, given.replicas)
    if given.against:
        pids = tuple(int(pid) for pid in given.pids.split(",") if pid)
        measure(Cluster("against", given.against, given.token, pids), given.replicas)


if __name__ == "__main__":
    main()
