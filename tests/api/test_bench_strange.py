"""`hydrofoil bench` with addresses that are no API server, or give answers of no use: one line, soon, and no trace."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import orjson
import pytest

from hydrofoil import Server
from hydrofoil.cli.main import main
from hydrofoil.testing.thread import ThreadServer
from tests.api.wrong import Handler, Proxy, Wrong
from tests.conftest import command


def answer(status: str, body: bytes = b"", size: int | None = None) -> bytes:
    """Return the bytes of an answer; `size` is that of the body in its head."""
    return b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s" % (status.encode(), size or len(body), body)


ANSWERS = {
    "page": answer("200 OK", b"<html>"),
    "list": answer("200 OK", b"[]"),
    "number": answer("200 OK", b"1"),
    "object": answer("200 OK", b"{}"),
    "empty": answer("200 OK"),
    "created": answer("201 Created", b"{}"),
    "unauthorized": answer("401 Unauthorized"),
    "forbidden": answer("403 Forbidden"),
    "moved": answer("301 Moved Permanently"),
    "fault": answer("500 Internal Server Error", b"no"),
    "absent": answer("404 Not Found"),
    "half": answer("200 OK", b"{", 100),
    "other": b"SSH-2.0-OpenSSH_9.2\r\n",
    "nothing": b"",
}


@contextmanager
def listening(bytes_of_each: bytes) -> Iterator[int]:
    """Give every connection the same answer; yield the port."""

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection, closing(connection):
                if bytes_of_each and connection.recv(1 << 16):
                    connection.sendall(bytes_of_each)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
    thread.join()


def without_load(printed: str) -> str:
    """Return the lines but for that on a busy machine, which other tests make."""
    return re.sub(r"^hydrofoil: load [0-9.e+]+ on \d+ cores: .*\n", "", printed)


@pytest.mark.parametrize("words", ["list", "clean"])
@pytest.mark.parametrize("name", ANSWERS)
def test_what_is_no_api_server_is_one_line(name: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with listening(ANSWERS[name]) as port:
        code = main(["bench", words, f"--server=http://127.0.0.1:{port}"])
    printed = capsys.readouterr()
    assert (code, printed.out) == (1, "")
    assert re.fullmatch(r"hydrofoil: .+ \(.+\)\n", without_load(printed.err)), printed.err


def test_an_interrupt_ends_the_wait_for_a_silent_server() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        line = command("bench", "list", f"--server=http://127.0.0.1:{silent.getsockname()[1]}")
        with subprocess.Popen(line, stderr=subprocess.PIPE, text=True) as running, silent.accept()[0] as asked:
            asked.recv(1)
            running.send_signal(signal.SIGINT)
            _, printed = running.communicate(timeout=20)
    assert running.returncode == 130
    assert without_load(printed) == "hydrofoil: interrupted before an answer (run it again)\n"


@pytest.fixture(scope="module")
def server() -> Iterator[ThreadServer]:
    with Server.in_thread() as server:
        yield server


class Useless(Handler):
    """A proxy with answers of no use to some requests."""

    chosen = re.compile("^$")
    body = b""

    def send(self, data: bytes) -> None:
        """Answer as if all was well."""
        self.send_response(201 if self.command == "POST" else 200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def answer(self) -> None:
        """Carry a request out, and answer it with something else if it is chosen."""
        path = f"{self.command} {self.path}"
        if self.chosen.search(path):
            self.server.last[path] = b""
            sent = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            request = urllib.request.Request(
                f"http://{self.server.upstream}{self.path}", sent or None, dict(self.headers), method=self.command
            )
            with urllib.request.urlopen(request) as found:
                found.read()
            self.send(self.body)
        else:
            super().answer()

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer  # noqa: N815 - names that http.server calls


@pytest.mark.parametrize("body", [b"{", b"[]", b"{}", b'{"items":[{}]}', b"null"])
@pytest.mark.parametrize(
    "chosen", ["GET /version", "POST /api/v1/namespaces$", "GET .*limit=1$", "POST .*/pods$", "GET .*labelSelector"]
)
def test_answers_of_no_use_leave_nothing_behind(
    server: ThreadServer, tmp_path: Path, chosen: str, body: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    handler = type("Chosen", (Useless,), {"chosen": re.compile(chosen), "body": body})
    between = Proxy(server.url, Wrong("lost", "^nothing", 0))
    between.RequestHandlerClass = handler
    thread = threading.Thread(target=between.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        code = main(["bench", "writes", f"--server={between.url}", "--duration=100ms", "--watchers=2"])
    finally:
        between.shutdown()
        between.server_close()
        thread.join()
    assert between.last, "it was asked"
    for line in without_load(capsys.readouterr().err).splitlines():
        assert re.fullmatch(r"hydrofoil: .+ \(.+\)", line)
    assert code in (0, 1)
    with urllib.request.urlopen(f"{server.url}/api/v1/namespaces") as found:
        names = [item["metadata"]["name"] for item in orjson.loads(found.read())["items"]]
    assert not [name for name in names if name.startswith("hydrofoil-bench-")]
