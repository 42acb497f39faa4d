"""Readers that are as fast as the server: an answer of many megabytes leaves turns of the loop to others."""

from __future__ import annotations

import asyncio
import sys

import aiohttp
import pytest

from tests.api.calls import post

MAPS = "/api/v1/namespaces/default/configmaps"
READER = """
import socket, sys
host, port, path, accept = sys.argv[1:]
with socket.create_connection((host, int(port))) as line:
    head = f"GET {path} HTTP/1.1\\r\\nHost: {host}\\r\\nConnection: close\\r\\nAccept: {accept}"
    line.sendall(head.encode() + b"\\r\\n\\r\\n")
    buffer, size, last = bytearray(1 << 20), 0, b""
    while taken := line.recv_into(buffer):
        size, last = size + taken, (last + buffer[max(taken - 32, 0) : taken])[-32:]
print(size, last.hex())
"""


@pytest.mark.parametrize("accept", ["application/json", "application/vnd.kubernetes.protobuf", "application/yaml"])
async def test_a_list_is_written_in_turns(api: aiohttp.ClientSession, accept: str) -> None:
    """The guard of turns measures it: written at once, 60 MB would hold the loop for 20 ms and more."""
    for n in range(500):
        await post(api, MAPS, {"metadata": {"name": f"c{n:03}"}, "data": {"k": "x" * 120_000}})
    url = api._base_url
    assert url is not None
    line = [sys.executable, "-c", READER, str(url.host), str(url.port), MAPS, accept]
    reader = await asyncio.create_subprocess_exec(*line, stdout=asyncio.subprocess.PIPE)
    size, last = (await reader.communicate())[0].split()
    assert int(size) > 60_000_000
    end = {"json": b"]}", "protobuf": b"\x1a\x00\x22\x00", "yaml": b"ourceVersion: "}
    assert end[accept.rpartition("/")[2].rpartition(".")[2]] in bytes.fromhex(last.decode())
