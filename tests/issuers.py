"""An HTTPS server that issues tokens and reviews others, and keys and clocks of tests."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson
from aiohttp import web
from joserfc import jws
from joserfc.jwk import ECKey, OctKey, RSAKey

from hydrofoil.clock import Clock, MachineTime
from tests.authorities import Authority

Object = dict[str, Any]
ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "ES512", "HS256", "none"]
RSA = RSAKey.generate_key(2048, {"kid": "rsa"}, private=True)
STRAY = RSAKey.generate_key(2048, {"kid": "rsa"}, private=True)
EC = ECKey.generate_key("P-256", {"kid": "ec"}, private=True)


def public(key: RSAKey | ECKey) -> Object:
    """Return the public part of a key, as a key set has it."""
    return dict(key.as_dict(private=False))


def signed(
    claims: Object, key: RSAKey | ECKey | OctKey = RSA, algorithm: str = "RS256", header: Object | None = None
) -> str:
    """Return a token; a header may name anything, and null takes a member away."""
    head: Object = {"alg": algorithm, "kid": key.kid} | (header or {})
    head = {name: value for name, value in head.items() if value is not None}
    registry = jws.JWSRegistry(algorithms=ALGORITHMS, strict_check_header=False)
    return jws.serialize_compact(head, orjson.dumps(claims), key, registry=registry)


class Sleepless(MachineTime):
    """The time of a machine on which sleeping takes no time, but moves a clock."""

    def __init__(self, clock: Frozen) -> None:
        self._clock = clock

    async def sleep(self, seconds: float) -> None:
        self._clock.slept.append(seconds)
        self._clock.at += seconds


class Frozen(Clock):
    """A clock that tests set."""

    def __init__(self, now: float = 1_000_000.0) -> None:
        super().__init__(Sleepless(self))
        self.at = now
        self.slept: list[float] = []

    def nanoseconds(self) -> int:
        return int(self.at * 1e9)


class Outside:
    """The server: issuers by their name, and reviews of tokens."""

    def __init__(self, authority: Authority) -> None:
        self.authority = authority
        self.url = ""
        self.keys: list[Object] = [public(RSA), public(EC)]
        self.by_issuer: dict[str, list[Object]] = {}
        self.asked: list[str] = []
        self.reviews: list[Object] = []
        self.claims = ""
        """The token of distributed claims."""

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(request.path)
        name, _, rest = request.path.strip("/").partition("/")
        if name == "redirect":
            raise web.HTTPFound(f"{self.url}/one/{rest}")
        if rest == ".well-known/openid-configuration":
            own = f"{self.url}/{name}"
            return web.json_response({"issuer": own, "jwks_uri": f"{own}/keys"})
        if rest == "keys":
            return web.json_response({"keys": self.by_issuer.get(name, self.keys)})
        if name == "claims":
            return web.Response(text=self.claims)
        if name == "review":
            review = orjson.loads(await request.read())
            self.reviews.append(review)
            known = review["spec"]["token"] == "known"
            status: Object = {"authenticated": known} | ({"user": {"username": "hooked"}} if known else {})
            return web.json_response({"apiVersion": review["apiVersion"], "kind": "TokenReview", "status": status})
        raise web.HTTPNotFound


@asynccontextmanager
async def outside(folder: Path) -> AsyncIterator[Outside]:
    """Run the server."""
    authority = Authority("outside")
    certificate, key = authority.issue("127.0.0.1")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)

    def store() -> None:
        for name, data in (("outside.crt", certificate), ("outside.key", key), ("ca.crt", authority.certificate)):
            (folder / name).write_bytes(data)
        context.load_cert_chain(folder / "outside.crt", folder / "outside.key")

    await asyncio.to_thread(store)
    made = Outside(authority)
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", made.answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context)
    await site.start()
    made.url = f"https://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield made
    finally:
        await runner.cleanup()
