"""`hydrofoil ui`: who gets an answer, and what is passed on."""

from __future__ import annotations

import http.client
import json
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.api.dumps import serving
from tests.api.gateways import gateway
from tests.conftest import command


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving("--ui", "--test-controls") as found:
        yield found


@pytest.fixture(scope="module")
def opened(server: str) -> Iterator[tuple[str, str]]:
    """Yield host and port, and the key."""
    with gateway("--server", server) as (address, key):
        yield urlsplit(address).netloc, key


def ask(opened: tuple[str, str], path: str, method: str = "GET", **headers: str) -> tuple[int, Any]:
    """Return code and body of an answer to a request with the key, unless headers have another one."""
    where, key = opened
    connection = http.client.HTTPConnection(where, timeout=10)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, headers={"Authorization": f"Bearer {key}", **named})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    assert "unsafe" not in answer.headers["Content-Security-Policy"]
    return answer.status, json.loads(body) if body.startswith(b"{") else body


@pytest.mark.parametrize(
    "path", ["/api", "/apis", "/api/v1/pods?limit=5", "/version", "/ui/stats", "/hydrofoil/v1/clock"]
)
def test_reads_are_passed_on(opened: tuple[str, str], path: str) -> None:
    code, body = ask(opened, path)
    assert code == 200 and isinstance(body, dict)


@pytest.mark.parametrize("path", ["/api/v1/pods", "/ui/stats", "/version", "/nothing"])
@pytest.mark.parametrize("given", ["", "Bearer ", "Bearer wrong", "Basic eDp5", "Bearer \u00e4"])
def test_nobody_is_answered_without_the_key(opened: tuple[str, str], path: str, given: str) -> None:
    code, body = ask(opened, path, Authorization=given)
    assert (code, body["reason"]) == (401, "Unauthorized")
    assert opened[1] not in json.dumps(body)


@pytest.mark.parametrize("path", ["/api/v1/pods", "/ui/", "/ui/main.js"])
@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "localhost"},
        {"Host": "example.com"},
        {"Host": "127.0.0.1:1"},
        {"Origin": "http://example.com"},
        {"Origin": "null"},
    ],
)
def test_no_other_host_or_origin_is_answered(opened: tuple[str, str], path: str, headers: dict[str, str]) -> None:
    code, body = ask(opened, path, **headers)
    assert (code, body["reason"]) == (403, "Forbidden")


def test_its_own_page_is_answered(opened: tuple[str, str]) -> None:
    assert ask(opened, "/api", Origin=f"http://{opened[0]}", Sec_Fetch_Site="same-origin")[0] == 200
    assert ask(opened, "/api", Sec_Fetch_Site="cross-site")[0] == 403
    # A link to it opens the page, which has no data.
    assert ask(opened, "/ui/", Sec_Fetch_Site="cross-site", Authorization="")[0] == 200


@pytest.mark.parametrize(
    ("method", "path", "code"),
    [
        ("POST", "/api/v1/namespaces", 405),
        ("DELETE", "/api/v1/namespaces/default", 405),
        ("GET", "/metrics", 404),
        ("GET", "/api/../metrics", 404),
        ("GET", "/api/%2e%2e/metrics", 404),
        ("GET", "/api/v1/../../metrics", 404),
        ("GET", "/hydrofoil/v1/requests", 404),
        ("GET", "http://example.com/api", 404),
        ("GET", "/api/v1/namespaces/none", 404),
    ],
)
def test_nothing_else_is_passed_on(opened: tuple[str, str], method: str, path: str, code: int) -> None:
    assert ask(opened, path, method, Host=opened[0])[0] == code


def test_a_watch_ends_with_its_page(server: str, opened: tuple[str, str]) -> None:
    connection = http.client.HTTPConnection(opened[0], timeout=10)
    connection.request("GET", "/api/v1/namespaces?watch=1", headers={"Authorization": f"Bearer {opened[1]}"})
    assert json.loads(connection.getresponse().readline())["type"] == "ADDED"
    agents = [watch["agent"] for watch in ask(opened, "/ui/stats")[1]["watches"]]
    assert agents == ["hydrofoil-ui"]
    connection.close()
    for _ in range(200):
        if not ask(opened, "/ui/stats")[1]["watches"]:
            break
    else:
        raise AssertionError("the watch is still open")


def run(*words: str) -> tuple[int, str]:
    done = subprocess.run(command("ui", "--no-open", *words), capture_output=True, text=True, timeout=30, check=False)
    return done.returncode, done.stderr


def test_failures_are_one_line(server: str, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, line = run("--server", server, "--port", str(port))
        assert code == 1 and line == f"hydrofoil: 127.0.0.1:{port}: address already in use (--port 0)\n"
    code, line = run("--server", f"http://127.0.0.1:{port}")
    assert (
        code == 1 and line.startswith(f"hydrofoil: no answer from http://127.0.0.1:{port}: ") and line.count("\n") == 1
    )
    assert run("--server", "ftp://x")[0] == 2
    assert run("--kubeconfig", str(tmp_path / "none"))[0] == 2
    assert run("--port", "99999")[0] == 2


def test_a_server_that_leaves_is_told() -> None:
    with serving() as server:
        running = gateway("--server", server)
        address, key = running.__enter__()
        opened = urlsplit(address).netloc, key
        connection = http.client.HTTPConnection(opened[0], timeout=10)
        connection.request("GET", "/api/v1/namespaces?watch=1", headers={"Authorization": f"Bearer {key}"})
        stream = connection.getresponse()
        assert json.loads(stream.readline())["type"] == "ADDED"
    with pytest.raises((http.client.IncompleteRead, ConnectionError)):
        stream.read()
    connection.close()
    code, body = ask(opened, "/api")
    assert code == 502 and body["message"].startswith(f"no answer from {server}")
    running.__exit__(None, None, None)
