"""One server of several processes (`--workers`): its port, its metrics, its deaths."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.conftest import command

MAPS = "/api/v1/namespaces/default/configmaps"
ESTABLISHED = "01"
"""The state of a connection in /proc/net/tcp."""
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


class Running:
    """A server with workers."""

    def __init__(self, *flags: str, workers: int = 3, port: int = 0, stderr: Path | None = None) -> None:
        line = command("serve", f"--port={port}", f"--workers={workers}", *flags)
        self._log = None if stderr is None else stderr.open("wb")
        self.process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=self._log, text=True)
        assert self.process.stdout is not None
        first = next(line for line in self.process.stdout if line.startswith("serving on "))
        self.port = urlsplit(first.split()[-1]).port or 0

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)

    def ask(
        self, method: str, path: str, body: Any = None, connection: http.client.HTTPConnection | None = None
    ) -> Any:
        """Return code and body of an answer, by default over a connection of its own."""
        with contextlib.closing(self.connect()) if connection is None else contextlib.nullcontext(connection) as used:
            data = None if body is None else json.dumps(body)
            used.request(method, path, data, {"Content-Type": "application/json"} if data else {})
            answer = used.getresponse()
            text = answer.read().decode()
            with contextlib.suppress(ValueError):
                return answer.status, json.loads(text)
            return answer.status, text

    def children(self) -> list[int]:
        """Return the ids of the workers."""
        task = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(pid) for pid in task.read_text().split()]

    def requests(self) -> float:
        """Return how many requests for config maps the whole server has counted."""
        _, text = self.ask("GET", "/metrics")
        found = re.findall(r'^apiserver_request_total\{.*resource="configmaps".*\} (\S+)$', text, re.MULTILINE)
        return sum(map(float, found))

    def end(self) -> int:
        """Stop the server; return its exit code."""
        self.process.terminate()
        code = self.process.wait(15)
        assert self.process.stdout is not None
        self.process.stdout.close()
        if self._log is not None:
            self._log.close()
        return code


@pytest.fixture
def server() -> Iterator[Running]:
    found = Running()
    yield found
    assert found.end() == 0


def wait_for(holds: Callable[[], bool], seconds: float = 10.0) -> None:
    """Wait until something holds that another process does."""
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until, "it does not come"
        time.sleep(0.01)


def named(name: str) -> dict[str, Any]:
    return {"metadata": {"name": name}}


def test_every_worker_shows_what_any_was_told(server: Running) -> None:
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(contextlib.closing(server.connect())) for _ in range(6)]
        for number in range(60):
            writer, reader = clients[number % 6], clients[(number * 5 + 1) % 6]
            code, made = server.ask("POST", MAPS, named(f"m{number}"), writer)
            assert code == 201
            for client in (reader, writer):
                code, found = server.ask("GET", f"{MAPS}/m{number}", connection=client)
                assert (code, found["metadata"]["uid"]) == (200, made["metadata"]["uid"])
            _, listed = server.ask("GET", MAPS, connection=reader)
            assert f"m{number}" in {item["metadata"]["name"] for item in listed["items"]}
        # The kernel gives no connection to a process: each worker has its part of them.
        assert [clients_of(pid, server.port) for pid in server.children()] == [2, 2, 2]


def clients_of(pid: int, port: int) -> int:
    """Return how many connections to a port a process has."""
    rows = (line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:])
    inodes = {row[9] for row in rows if row[3] == ESTABLISHED and int(row[1].rpartition(":")[2], 16) == port}
    found = 0
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            found += entry.readlink().name.removeprefix("socket:[").removesuffix("]") in inodes
    return found


def test_a_definition_that_is_established_is_served_by_every_worker(server: Running) -> None:
    for number in range(5):
        plural, group = f"things{number}", f"g{number}.example.com"
        schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
        body = {
            "metadata": {"name": f"{plural}.{group}"},
            "spec": {
                "group": group,
                "names": {"plural": plural, "kind": f"Thing{number}"},
                "scope": "Cluster",
                "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
            },
        }
        assert server.ask("POST", DEFINITIONS, body)[0] == 201

        def established(path: str = f"{DEFINITIONS}/{plural}.{group}") -> bool:
            conditions = server.ask("GET", path)[1].get("status", {}).get("conditions", [])
            return any(c["type"] == "Established" and c["status"] == "True" for c in conditions)

        wait_for(established)
        for _ in range(6):
            assert server.ask("GET", f"/apis/{group}/v1/{plural}")[0] == 200


def test_a_worker_that_is_killed_costs_its_own_connections(server: Running) -> None:
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(contextlib.closing(server.connect())) for _ in range(6)]
        for client in clients:
            assert server.ask("GET", MAPS, connection=client)[0] == 200
        before = server.requests()
        assert before >= 6
        workers = server.children()
        os.kill(workers[1], signal.SIGKILL)
        wait_for(lambda: workers[1] not in server.children())
        broken = 0
        for client in clients:
            try:
                assert server.ask("GET", MAPS, connection=client)[0] == 200
            except (http.client.HTTPException, OSError):
                broken += 1
        assert broken == 2
    assert server.requests() >= before
    wait_for(lambda: len(server.children()) == 3 and all(server.ask("GET", "/readyz")[0] == 200 for _ in range(6)))
    assert server.requests() >= before + 4
    assert server.ask("POST", MAPS, named("after"))[0] == 201
    for _ in range(6):
        assert server.ask("GET", f"{MAPS}/after")[0] == 200


def test_metrics_are_those_of_all_processes(server: Running) -> None:
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(contextlib.closing(server.connect())) for _ in range(6)]
        for client in clients:
            for _ in range(10):
                server.ask("GET", f"{MAPS}/none", connection=client)
        assert server.requests() == 60
        assert server.ask("DELETE", "/metrics")[0] == 200
        assert server.requests() == 0
        server.ask("GET", MAPS, connection=clients[0])
        assert server.requests() == 1


def test_the_owner_ends_all(tmp_path: Path) -> None:
    server = Running(f"--data-dir={tmp_path / 'data'}")
    assert server.ask("POST", MAPS, named("kept"))[0] == 201
    workers = server.children()
    server.process.kill()
    server.process.wait()
    wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers), 5)
    assert server.process.stdout is not None
    server.process.stdout.close()
    # Neither the port nor the folder is held.
    again = Running(f"--data-dir={tmp_path / 'data'}", port=server.port)
    assert again.ask("GET", f"{MAPS}/kept")[0] == 200
    assert again.end() == 0


def test_open_requests_are_finished_at_the_end() -> None:
    server = Running()
    with contextlib.closing(server.connect()) as client:
        body = json.dumps(named("slow")).encode()
        client.putrequest("POST", MAPS)
        client.putheader("Content-Type", "application/json")
        client.putheader("Content-Length", str(len(body)))
        client.endheaders()
        client.send(body[:5])
        wait_for(lambda: 'verb="POST"' in str(server.ask("GET", "/metrics")[1]) or inflight(server) > 0)
        server.process.terminate()
        wait_for(lambda: refuses(server.port))
        client.send(body[5:])
        assert client.getresponse().status == 201
    assert server.end() == 0


def inflight(server: Running) -> float:
    found = re.findall(r"^apiserver_current_inflight_requests\{.*\} (\S+)$", server.ask("GET", "/metrics")[1], re.M)
    return sum(map(float, found))


def refuses(port: int) -> bool:
    """Report whether nobody listens on a port."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


def test_there_is_one_audit_log(tmp_path: Path) -> None:
    policy, log = tmp_path / "policy.yaml", tmp_path / "audit.log"
    policy.write_text("apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n")
    server = Running(f"--audit-policy-file={policy}", f"--audit-log-path={log}", "--audit-log-mode=blocking-strict")
    for number in range(30):
        assert server.ask("POST", MAPS, named(f"m{number}"))[0] == 201
    assert server.end() == 0
    events = [json.loads(line) for line in log.read_text().splitlines()]
    made = [e for e in events if e["verb"] == "create" and e["stage"] == "ResponseComplete"]
    assert {e["objectRef"]["name"] for e in made if e["objectRef"]["resource"] == "configmaps"} >= {
        f"m{number}" for number in range(30)
    }


def test_lines_of_the_log_name_the_worker(tmp_path: Path) -> None:
    log = tmp_path / "log"
    server = Running("-v=3", stderr=log)
    for _ in range(9):
        server.ask("GET", MAPS)
    assert set(re.findall(r"worker=(\d)", log.read_text())) == {"1", "2", "3"}
    # One that was replaced sets up its log anew.
    killed = server.children()[0]
    os.kill(killed, signal.SIGKILL)
    wait_for(lambda: killed not in server.children())
    before = len(log.read_text())

    def all_name_themselves() -> bool:
        server.ask("GET", MAPS)
        return set(re.findall(r"worker=(\d)", log.read_text()[before:])) == {"1", "2", "3"}

    wait_for(all_name_themselves)
    assert server.end() == 0


@pytest.mark.parametrize("flag", ["--test-controls", "--from=dump.tar", "--ui"])
def test_what_needs_one_process_is_refused(flag: str) -> None:
    done = subprocess.run(
        command("serve", "--port=0", "--workers=2", flag), capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "--workers" in done.stderr
    assert flag.partition("=")[0] in done.stderr


@pytest.mark.parametrize("value", ["0", "64", "-1", "two"])
def test_a_number_of_workers_is_refused(value: str) -> None:
    done = subprocess.run(command("serve", f"--workers={value}"), capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "--workers must be auto, or a number from 1 to 63" in done.stderr


def test_a_limit_is_that_of_the_whole_server() -> None:
    limits = ["--enable-priority-and-fairness=false", "--max-mutating-requests-inflight=4"]
    server = Running(*limits)
    body = json.dumps(named("slow")).encode()
    with contextlib.ExitStack() as stack:
        codes: list[int] = []
        held: list[http.client.HTTPConnection] = []
        for _ in range(7):
            client = stack.enter_context(contextlib.closing(server.connect()))
            client.connect()
            client.sock.settimeout(5)
            head = f"POST {MAPS} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            client.sock.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body[:5])
            held.append(client)
            # A request that waits for its body has its place by now, or was refused.
            wait_for(lambda: inflight(server) + len(codes) >= len(held) or refusal(held[-1], codes))
        assert len(codes) == 3
    assert server.end() == 0


def refusal(client: http.client.HTTPConnection, codes: list[int]) -> bool:
    """Add the code of an answer that is there already."""
    client.sock.setblocking(False)
    try:
        first = client.sock.recv(12)
    except BlockingIOError:
        return False
    codes.append(int(first.split()[1]))
    return True
