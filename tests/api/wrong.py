"""A proxy that makes answers wrong: an object or event is lost, doubled, moved or changed, or a list is cut off."""

from __future__ import annotations

import http.client
import re
import socket
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

import orjson

from hydrofoil import engine
from tests.api.altered import ALTERED, typed

Items = list[Any]
FAULTS: dict[str, Callable[[Items, int], Items]] = {
    "lost": lambda items, at: items[:at] + items[at + 1 :],
    "twice": lambda items, at: items[: at + 1] + items[at:],
    "moved": lambda items, at: [*items[:at], items[at + 1], items[at], *items[at + 2 :]],
}

COLLECTION = re.compile(r"/namespaces/hydrofoil[^/]*/(configmaps|pods)(\?|$)")


def varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number and the place behind it."""
    value = shift = 0
    while True:
        byte = data[at]
        value, shift, at = value | (byte & 127) << shift, shift + 7, at + 1
        if byte < 128:
            return value, at


def spelled(value: int) -> bytes:
    """Return a number as a varint."""
    made = b""
    while value > 127:
        made, value = made + bytes([value & 127 | 128]), value >> 7
    return made + bytes([value])


def fields(message: bytes) -> list[tuple[int, bytes]]:
    """Return the fields of a message that has lengths only: their keys and contents."""
    found, at = [], 0
    while at < len(message):
        key, at = varint(message, at)
        size, at = varint(message, at)
        found.append((key, message[at : at + size]))
        at += size
    return found


def joined(parts: list[tuple[int, bytes]]) -> bytes:
    """Return a message of fields."""
    return b"".join(spelled(key) + spelled(len(content)) + content for key, content in parts)


def protobuf(body: bytes, change: Callable[[Items], Items]) -> bytes:
    """Change the items of a list."""
    envelope = dict(fields(body[4:]))
    parts = fields(envelope[18])
    items = change([part for part in parts if part[0] == 18])
    envelope[18] = joined([part for part in parts if part[0] != 18] + items)
    return body[:4] + joined(sorted(envelope.items()))


def altered(items: Items, at: int, media: str, fault: str) -> Items:
    """Change one object of a list."""
    change, item = ALTERED[fault], items[at]
    if isinstance(item, tuple):
        made: Any = (item[0], change(item[1], media))
    else:
        made = orjson.loads(change(orjson.dumps(item), "json"))
    assert made != item, f"{fault} changed nothing"
    return [*items[:at], made, *items[at + 1 :]]


def changed(body: bytes, media: str, change: Callable[[Items], Items]) -> bytes:
    """Change the objects of a list in any encoding."""
    if "protobuf" in media:
        return protobuf(body, change)
    document = orjson.loads(engine.cbor_to_json(body) if "cbor" in media else body)
    name = "rows" if "rows" in document else "items"
    document[name] = change(document[name] or [])
    made = orjson.dumps(document)
    return engine.json_to_cbor(made) if "cbor" in media else made


def later(data: bytes) -> bytes:
    """Return an object in JSON with the next version."""
    return re.sub(rb'"resourceVersion":"(\d+)"', lambda found: b'"resourceVersion":"%d"' % (int(found[1]) + 1), data)


def size(data: bytes, at: int = 0) -> int:
    """Return the end of the CBOR item that begins here. Raise IndexError if it is not all there."""
    major, info, at = data[at] >> 5, data[at] & 31, at + 1
    number = info
    if 24 <= info < 28:
        width = 1 << (info - 24)
        data[at + width - 1]
        number, at = int.from_bytes(data[at : at + width], "big"), at + width
    if major in (2, 3):
        if at + number > len(data):
            raise IndexError
        return at + number
    for _ in range({4: number, 5: 2 * number, 6: 1}.get(major, 0)):
        at = size(data, at)
    return at


def split(data: bytes, media: str) -> tuple[list[bytes], bytes]:
    """Return the events of a stream, and its unfinished end."""
    events = []
    while data:
        try:
            if "cbor" in media:
                end = size(data)
            elif "protobuf" in media:
                end = 4 + int.from_bytes(data[:4], "big")
            else:
                end = data.index(b"\n") + 1
        except (IndexError, ValueError):
            break
        if end > len(data) or len(data) < 4:
            break
        events.append(data[:end])
        data = data[end:]
    return events, data


class Wrong:
    """A fault, and the answer that it changes."""

    def __init__(self, fault: str, chosen: str, number: int) -> None:
        self.fault = FAULTS.get(fault)
        self.name = fault
        self.chosen = re.compile(chosen)
        self.number = number
        """How many right answers, or events, precede."""
        self.lock = threading.Lock()
        self.done = False

    def due(self, path: str) -> bool:
        """Count an answer; report whether it becomes wrong."""
        with self.lock:
            if self.done or not self.chosen.search(path):
                return False
            self.number -= 1
            self.done = self.number < 0
            return self.done

    def items(self, path: str, media: str, items: Items) -> Items:
        """Change the objects of a list."""
        at = len(items) // 2
        if len(items) <= 2 or (self.fault is None and self.name not in ALTERED) or not self.due(path):
            return items
        return self.fault(items, at) if self.fault else altered(items, at, media, self.name)

    def event(self, media: str, event: bytes) -> bytes | None:
        """Change an event; None where it is no change of one event alone."""
        if self.name not in ALTERED and self.name != "type":
            return None
        made = typed(event, media) if self.name == "type" else ALTERED[self.name](event, media)
        assert made != event, f"{self.name} changed nothing of {event!r}"
        return made

    def body(self, path: str, data: bytes, before: bytes | None) -> bytes:
        """Change a whole list: packed, it lacks its end; a page is the one before it, or continues like that."""
        if self.name == "truncated" and self.due(path):
            return data[:-20]
        if before is not None and self.name == "page" and self.due(path):
            return before
        if before is not None and self.name == "continue":
            tokens = [re.search(rb'"continue":"([^"]+)"', body) for body in (before, data)]
            if all(tokens) and tokens[0][1] != tokens[1][1] and self.due(path):  # type: ignore[index]
                return data.replace(tokens[1][1], tokens[0][1])  # type: ignore[index]
        return data


class Stream:
    """The events of one watch, changed."""

    def __init__(self, wrong: Wrong, path: str, media: str) -> None:
        self.wrong, self.path, self.media = wrong, path, media
        self.rest = b""
        self.held: bytes | None = None

    def pass_on(self, data: bytes) -> bytes:
        """Return the bytes to send for bytes that arrived."""
        events, self.rest = split(self.rest + data, self.media)
        out = []
        for event in events:
            if self.held is not None:
                out += [event, self.held]
                self.held = None
            elif b"BOOKMARK" not in event[:40] and self.wrong.due(self.path):
                if self.wrong.name == "twice":
                    out += [event, event]
                elif self.wrong.name == "moved":
                    self.held = event
                elif (made := self.wrong.event(self.media, event)) is not None:
                    out.append(made)
            else:
                out.append(event)
        return b"".join(out)


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    # An answer is sent as a whole, or waits for the acknowledgement of its head.
    disable_nagle_algorithm = True
    wbufsize = 1 << 16
    server: Proxy

    def setup(self) -> None:
        """Give the connection one to the server, which is opened with the first request."""
        super().setup()
        self.upstream = http.client.HTTPConnection(self.server.upstream)
        self.server.open.add(self.upstream)

    def finish(self) -> None:
        """Close both connections."""
        self.server.open.discard(self.upstream)
        self.upstream.close()
        super().finish()

    def log_message(self, *_: Any) -> None:
        """Write nothing."""

    def answer(self) -> None:
        """Pass a request on, and its answer back."""
        wrong = self.server.wrong
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        path = f"{self.command} {self.path}"
        if self.server.answers(path, self):
            return
        undone = wrong.name == "undone" and wrong.due(path)
        # An answer that looks as if the write was done.
        query = f"{'&' if '?' in self.path else '?'}dryRun=All" if undone else ""
        self.upstream.request(self.command, self.path + query, body, dict(self.headers))
        found = self.upstream.getresponse()
        media = found.headers.get("Content-Type", "")
        self.send_response(found.status)
        self.send_header("Content-Type", media)
        if "watch=1" in self.path and found.status == 200:
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.flush()
            self.stream(found, Stream(wrong, path, media))
            return
        data = found.read()
        if found.status == 200 and self.command == "GET" and COLLECTION.search(self.path):
            if packed := found.headers.get("Content-Encoding"):
                self.send_header("Content-Encoding", packed)
            else:
                data = changed(data, media, lambda items: wrong.items(path, media, items))
            data = wrong.body(path, data, self.server.pages.get(threading.get_ident()))
            if "limit=500" in self.path:
                self.server.pages[threading.get_ident()] = data
        data = later(data) if undone else self.server.written(path, media, data)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def stream(self, found: http.client.HTTPResponse, stream: Stream) -> None:
        """Pass the events of a watch on."""
        while data := found.read1(1 << 16):
            if out := stream.pass_on(data):
                self.wfile.write(b"%x\r\n%s\r\n" % (len(out), out))
                self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer  # noqa: N815 - names that http.server calls


class Proxy(ThreadingHTTPServer):
    """A proxy before a server."""

    daemon_threads = False
    request_queue_size = 128

    def __init__(self, upstream: str, wrong: Wrong) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.upstream = urlsplit(upstream).netloc
        self.wrong = wrong
        self.last: dict[str, bytes] = {}
        self.pages: dict[int, bytes] = {}
        """The last page of each connection."""
        self.open: set[http.client.HTTPConnection] = set()
        self.refusals = 0
        """How many requests are refused by 429 before one is passed on."""

    @property
    def url(self) -> str:
        """The address."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, *_: Any) -> None:
        """Write nothing if a client has left."""
        if not isinstance(sys.exception(), ConnectionError):
            traceback.print_exc()

    def answers(self, path: str, handler: Handler) -> bool:
        """Refuse a request, if it is its turn."""
        with self.wrong.lock:
            if not self.refusals or "/namespaces/hydrofoil" not in path:
                return False
            self.refusals -= 1
            status = 429 if self.refusals % 2 else 503
        handler.send_response(status)
        handler.send_header("Retry-After", "0.01")
        handler.send_header("Content-Length", "4")
        handler.end_headers()
        handler.wfile.write(b"wait")
        return True

    def written(self, path: str, media: str, data: bytes) -> bytes:
        """Return the answer of a write: changed, or that of the write before, if it is to be wrong."""
        if not path.startswith(("PUT", "PATCH", "POST")) or "churn" not in path + data.decode(errors="replace"):
            return data
        if self.wrong.name in ALTERED:
            made = ALTERED[self.wrong.name](data, media)
            return made if made != data and self.wrong.due(path) else data
        if path.startswith("POST"):
            return data
        with self.wrong.lock:
            before = self.last.get("", data)
            self.last[""] = data
        return before if self.wrong.due(path) else data


@contextmanager
def proxy(upstream: str, fault: str = "lost", chosen: str = "^nothing", number: int = 0) -> Iterator[Proxy]:
    """Run a proxy whose answer is wrong once, after a number of right ones."""
    made = Proxy(upstream, Wrong(fault, chosen, number))
    thread = threading.Thread(target=made.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield made
    finally:
        made.shutdown()
        for connection in list(made.open):
            if connection.sock is not None:
                # The thread that reads it ends.
                connection.sock.shutdown(socket.SHUT_RDWR)
        made.server_close()
        thread.join()
