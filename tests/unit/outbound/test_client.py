"""aiohttp without its client, until it is asked for."""

import subprocess
import sys

PROGRAM = """
import asyncio, sys
from hydrofoil.outbound import client
client.defer()
import aiohttp
from aiohttp import web
assert web.Response(text="a").status == 200
assert "aiohttp.client" not in sys.modules, "loaded at once"
try:
    aiohttp.nothing
except AttributeError:
    pass
else:
    raise AssertionError("an attribute that is not there")
{use}
assert issubclass(aiohttp.ClientConnectorError, aiohttp.ClientError) and aiohttp.web is web
asyncio.run(client.ready())
client.defer()
assert sys.modules["aiohttp"] is aiohttp and aiohttp.ClientSession is sys.modules["aiohttp.client"].ClientSession
"""


def check(use: str) -> None:
    found = subprocess.run([sys.executable, "-c", PROGRAM.format(use=use)], capture_output=True, text=True, check=False)
    assert (found.returncode, found.stderr) == (0, "")


def test_the_client_comes_when_it_is_asked_for() -> None:
    check("assert aiohttp.ClientSession")


def test_the_client_comes_beside_the_loop() -> None:
    check("asyncio.run(client.ready())")


def test_a_server_starts_without_it() -> None:
    """No module that serving needs takes from the package itself what completes it."""
    program = "import sys; from hydrofoil.outbound import client; client.defer(); import hydrofoil.server.run"
    program += "; assert 'aiohttp.client' not in sys.modules"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (found.returncode, found.stderr) == (0, "")


def test_a_server_begins_without_applications_and_routes_which_come_when_asked_for() -> None:
    program = """
import sys
from hydrofoil.outbound import client
client.defer()
import hydrofoil.server.run
import hydrofoil.endpoints.connection
assert "aiohttp.web_app" not in sys.modules
from aiohttp import web
assert issubclass(web.WebSocketResponse, web.StreamResponse) and web.Application()
import aiohttp.web
assert aiohttp.web is web and web.__file__.endswith("web.py") and type(web).__name__ == "module"
assert not hasattr(web, "nothing")
"""
    subprocess.run([sys.executable, "-c", program], check=True)
