"""Creates of a config map without admission by others, through two webhooks on loopback, and through a policy:
`python -m bench.admission`.

It prints the median of each, in microseconds, by one client that sends one request after the other, in one run.
"""

from __future__ import annotations

import asyncio
import base64
import ssl
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web

from hydrofoil.server.config import Config
from hydrofoil.server.run import Server

GROUP = "/apis/admissionregistration.k8s.io/v1"
MAPS = "/api/v1/namespaces/default/configmaps"
RULES = [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["CREATE"]}]
COUNT = 400
PATCH = base64.b64encode(b'[{"op":"add","path":"/data/by","value":"hook"}]').decode()


async def answer(request: web.Request) -> web.Response:
    """Answer a review: the path `mutate` adds a member."""
    review = await request.json()
    response = {"uid": review["request"]["uid"], "allowed": True}
    if request.path == "/mutate":
        response |= {"patch": PATCH, "patchType": "JSONPatch"}
    return web.json_response({"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response})


async def hooks(folder: Path) -> tuple[web.AppRunner, int, str]:
    """Run the webhooks; return their runner, port and caBundle."""
    cert, key = folder / "cert.pem", folder / "key.pem"
    line = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=hook"]
    line += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(cert)]
    await asyncio.to_thread(subprocess.run, line, check=True, capture_output=True)
    app = web.Application()
    app.router.add_post("/{path}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(cert, key)
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context)
    await site.start()
    return runner, runner.addresses[0][1], base64.b64encode(cert.read_bytes()).decode()


async def post(api: aiohttp.ClientSession, path: str, body: dict[str, Any]) -> None:
    """Create an object."""
    async with api.post(path, json=body) as found:
        text = await found.text()
        assert found.status == 201, text


async def measured(api: aiohttp.ClientSession, name: str) -> float:
    """Return the median of creates, in microseconds."""
    took = []
    for n in range(COUNT):
        begun = time.perf_counter()
        await post(api, MAPS, {"metadata": {"name": f"{name}-{n}"}, "data": {"k": "v"}})
        took.append(time.perf_counter() - begun)
    return statistics.median(took) * 1e6


async def main() -> None:
    """Measure and print."""
    server = Server(Config(port=0), None)
    await server.start()
    with tempfile.TemporaryDirectory() as folder:
        runner, port, bundle = await hooks(Path(folder))
    async with aiohttp.ClientSession(server.url) as api:
        print(f"plain                       {await measured(api, 'plain'):8.0f} us")
        spec = {"matchConstraints": {"resourceRules": RULES}, "validations": [{"expression": "'k' in object.data"}]}
        await post(api, f"{GROUP}/validatingadmissionpolicies", {"metadata": {"name": "p"}, "spec": spec})
        binding = {"metadata": {"name": "p"}, "spec": {"policyName": "p", "validationActions": ["Deny"]}}
        await post(api, f"{GROUP}/validatingadmissionpolicybindings", binding)
        print(f"a validating policy         {await measured(api, 'policy'):8.0f} us")
        async with api.delete(f"{GROUP}/validatingadmissionpolicybindings/p") as gone:
            assert gone.status == 200
        for kind in ("mutating", "validating"):
            client = {"url": f"https://127.0.0.1:{port}/{kind.removesuffix('ing')}e", "caBundle": bundle}
            hook = {"name": f"{kind}.e.com", "admissionReviewVersions": ["v1"], "sideEffects": "None", "rules": RULES}
            body = {"metadata": {"name": kind}, "webhooks": [hook | {"clientConfig": client}]}
            await post(api, f"{GROUP}/{kind}webhookconfigurations", body)
        print(f"one webhook of each kind    {await measured(api, 'hooks'):8.0f} us")
        print(f"plain again                 {await again(api):8.0f} us")
    await runner.cleanup()
    await server.stop()


async def again(api: aiohttp.ClientSession) -> float:
    """Return the median of plain creates after the configurations are gone."""
    for kind in ("mutating", "validating"):
        async with api.delete(f"{GROUP}/{kind}webhookconfigurations/{kind}") as gone:
            assert gone.status == 200
    return await measured(api, "again")


if __name__ == "__main__":
    asyncio.run(main())
