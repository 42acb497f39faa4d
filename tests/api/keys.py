"""Configurations of encryption, and a plug-in that encrypts keys."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import orjson

IDENTITY: Any = {"identity": {}}


def aes(letter: str, kind: str = "aescbc") -> Any:
    """Return a provider with one key of a name."""
    return {kind: {"keys": [{"name": letter, "secret": base64.b64encode(letter.encode() * 32).decode()}]}}


def kms(socket: Path) -> Any:
    """Return a provider whose keys a plug-in encrypts."""
    return {"kms": {"apiVersion": "v2", "name": "kms", "endpoint": f"unix://{socket}", "timeout": "500ms"}}


def configured(path: Path, *entries: tuple[list[str], list[Any]]) -> Path:
    """Write a configuration with providers for each list of resources."""
    body = {
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "EncryptionConfiguration",
        "resources": [{"resources": resources, "providers": providers} for resources, providers in entries],
    }
    beside = path.with_suffix(".new")
    beside.write_bytes(orjson.dumps(body))
    return beside.replace(path)


def _fields(data: bytes) -> dict[int, bytes]:
    """Return the texts and bytes of a message in protobuf, each shorter than 128 bytes."""
    found, at = {}, 0
    while at < len(data):
        found[data[at] >> 3] = data[at + 2 : at + 2 + data[at + 1]]
        at += 2 + data[at + 1]
    return found


def _message(*values: bytes) -> bytes:
    return b"".join(bytes((number << 3 | 2, len(value))) + value for number, value in enumerate(values, 1))


class Plugin:
    """A plug-in of version 2 that encrypts by inverting bits; its answers may be changed."""

    def __init__(self) -> None:
        self.key = "key-1"
        self.health = "ok"

    def status(self, _request: bytes, _context: object) -> bytes:
        return _message(b"v2", self.health.encode(), self.key.encode())

    def encrypt(self, request: bytes, _context: object) -> bytes:
        return _message(bytes(byte ^ 0x5A for byte in _fields(request)[1]), self.key.encode())

    def decrypt(self, request: bytes, _context: object) -> bytes:
        return _message(bytes(byte ^ 0x5A for byte in _fields(request)[1]))


@contextmanager
def plugin(socket: Path) -> Iterator[Plugin]:
    """Serve a plug-in on a socket."""
    found = Plugin()
    server = grpc.server(ThreadPoolExecutor(2))
    methods = {"Status": found.status, "Encrypt": found.encrypt, "Decrypt": found.decrypt}
    handlers = {name: grpc.unary_unary_rpc_method_handler(method) for name, method in methods.items()}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("v2.KeyManagementService", handlers),))
    server.add_insecure_port(f"unix:{socket}")
    server.start()
    try:
        yield found
    finally:
        server.stop(None).wait()
