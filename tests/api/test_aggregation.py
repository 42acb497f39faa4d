"""API services, local and remote (kube-aggregator; issue part F)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

import aiohttp
import pytest
from aiohttp import web

from hydrofoil.server.config import Config
from hydrofoil.server.run import Server
from hydrofoil.storage.log import Log
from tests.api.aggregation import SERVICES, WARDLE, condition, reached, service
from tests.api.custom import CRDS, Object, call, definition, version
from tests.api.services import Certificate, certificate, listening, reaching

__all__ = ["certificate"]
T = TypeVar("T")
LABEL = "kube-aggregator.kubernetes.io/automanaged"
SCHEMAS = {
    "wardle.Flunder": {
        "type": "object",
        "properties": {"spec": {"allOf": [{"$ref": "#/components/schemas/wardle.Spec"}]}},
        "x-kubernetes-group-version-kind": [{"group": "wardle.example.com", "version": "v1", "kind": "Flunder"}],
    },
    "wardle.Spec": {"type": "object", "properties": {"size": {"type": "integer"}}},
}


@dataclass(slots=True)
class Backend:
    """An API server behind ours."""

    port: int = 0
    aggregated: bool = True
    healthy: bool = True
    seen: list[web.Request] = field(default_factory=list)
    more: asyncio.Event = field(default_factory=asyncio.Event)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Serve `flunders`, a watch, an upgrade and documents."""
        self.seen.append(request)
        if not self.healthy:
            return web.Response(status=500)
        kind = {"group": "", "version": "", "kind": "Flunder"}
        match request.path:
            case "/apis" if self.aggregated and "as=APIGroupDiscoveryList" in request.headers["Accept"]:
                resource = {"resource": "flunders", "responseKind": kind, "scope": "Namespaced", "verbs": ["get"]}
                versions = [{"version": "v1", "resources": [resource | {"singularResource": "flunder"}]}]
                body: Object = {"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2"}
                body |= {"items": [{"metadata": {"name": "wardle.example.com"}, "versions": versions}]}
                media = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
                return web.Response(body=web.json_response(body).body, headers={"Content-Type": media})
            case "/apis/wardle.example.com/v1":
                entry = {"name": "flunders", "singularName": "flunder", "namespaced": True, "kind": "Flunder"}
                return web.json_response(
                    {"kind": "APIResourceList", "groupVersion": "x/v1", "resources": [entry | {"verbs": ["get"]}]}
                )
            case "/openapi/v3":
                return web.json_response({"paths": {WARDLE[1:]: {"serverRelativeURL": f"/openapi/v3{WARDLE}?hash=A"}}})
            case path if path == f"/openapi/v3{WARDLE}" and not request.query_string:
                return web.json_response({"components": {"schemas": SCHEMAS}})
            case "/openapi/v2":
                operation = {"get": {"responses": {"200": {"schema": {"$ref": "#/definitions/wardle.Flunder"}}}}}
                document = {"swagger": "2.0", "paths": {f"{WARDLE}/flunders": operation, "/apis/other/": operation}}
                return web.json_response(document | {"definitions": {"wardle.Flunder": {"type": "object"}}})
            case path if path.endswith("/watched"):
                answer = web.StreamResponse()
                await answer.prepare(request)
                await answer.write(b"one\n")
                await self.more.wait()
                await answer.write(b"two\n")
                return answer
            case path if path.endswith("/socket"):
                socket = web.WebSocketResponse()
                await socket.prepare(request)
                async for message in socket:
                    await socket.send_str(f"echo {message.data}")
                return socket
        reported: Object = {
            "path": request.raw_path,
            "body": await request.text(),
            "headers": [*map(list, request.headers.items())],
        }
        return web.json_response(reported, status=201 if request.method == "POST" else 200)


@pytest.fixture
async def backend(certificate: Certificate) -> AsyncIterator[Backend]:
    """Yield a listening backend."""
    found = Backend()
    async with listening(certificate, "/{tail:.*}", found.handle) as found.port:
        yield found


@pytest.fixture
async def client(backend: Backend, log: Log | None) -> AsyncIterator[aiohttp.ClientSession]:
    """Yield a client of a server that reaches the backend as a service."""
    async with reaching(backend.port, log) as session:
        yield session


def says(reason: str) -> Callable[[Object], bool]:
    """Whether Available has a reason."""
    return lambda body: condition(body)[1] == reason


async def discovered(api: aiohttp.ClientSession) -> Object | None:
    """Return the discovery document of `wardle.example.com/v1`."""
    accept = {"Accept": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}
    async with api.get("/apis", headers=accept) as answer:
        items: list[Object] = (await answer.json(content_type=None))["items"]
    return next((i["versions"][0] for i in items if i["metadata"]["name"] == "wardle.example.com"), None)


def current(entry: Object | None) -> bool:
    """Whether a discovery document is that of a service that responds."""
    return entry is not None and entry["freshness"] == "Current"


async def groups(api: aiohttp.ClientSession) -> list[str]:
    """Return the groups of the old discovery."""
    return [g["name"] for g in (await call(api, "GET", "/apis"))[1]["groups"]]


async def test_local_services_are_there_and_stay_away_when_deleted(api: aiohttp.ClientSession) -> None:
    """`autoregister_controller.go`: built-in ones are registered once, at the start."""
    _, found = await call(api, "GET", f"{SERVICES}/v1.apps")
    assert found["metadata"]["labels"] == {LABEL: "onstart"}
    assert condition(found) == ("True", "Local", "Local APIServices are always available")
    assert (await call(api, "DELETE", f"{SERVICES}/v1.apps"))[0] == 200
    assert (await call(api, "GET", f"{SERVICES}/v1.apps"))[0] == 404
    assert "apps" not in await groups(api)
    # Built-in groups are served without it too.
    assert (await call(api, "GET", "/apis/apps/v1/deployments"))[0] == 200
    assert (await call(api, "GET", "/apis/apps"))[0] == 200


async def test_services_of_other_group_versions_follow_the_flags() -> None:
    """`apiServicesToRegister`: what is served is registered, with upstream's priorities."""
    server = Server(Config(port=0, runtime_config={"resource.k8s.io/v1beta1": True, "batch/v1": False}))
    await server.start()
    async with aiohttp.ClientSession(server.url) as api:
        _, found = await call(api, "GET", f"{SERVICES}/v1beta1.resource.k8s.io")
        assert (found["spec"]["groupPriorityMinimum"], found["spec"]["versionPriority"]) == (16200, 9)
        assert (await call(api, "GET", f"{SERVICES}/v1.batch"))[0] == 404
        assert "batch" not in await groups(api)
    await server.stop()


async def test_services_of_definitions_come_and_go(api: aiohttp.ClientSession) -> None:
    """`crdregistration_controller.go`: one for each served group version, kept as it is."""
    made = definition(version("v1", storage=True), version("v2"))
    group = made["spec"]["group"]
    await call(api, "POST", CRDS, made)
    _, found = await call(api, "GET", f"{SERVICES}/v2.{group}")
    assert found["metadata"]["labels"] == {LABEL: "true"}
    assert found["spec"] == {
        "group": group, "version": "v2", "groupPriorityMinimum": 1000, "versionPriority": 100
    }  # fmt: skip
    assert (await groups(api))[-1] == group
    # Deleted or changed, it is restored, unless it is no longer marked.
    await call(api, "DELETE", f"{SERVICES}/v2.{group}")
    _, again = await call(api, "GET", f"{SERVICES}/v2.{group}")
    assert again["metadata"]["uid"] != found["metadata"]["uid"]
    again["spec"]["versionPriority"] = 7
    await call(api, "PUT", f"{SERVICES}/v2.{group}", again)
    _, again = await call(api, "GET", f"{SERVICES}/v2.{group}")
    assert again["spec"]["versionPriority"] == 100
    again["spec"]["versionPriority"] = 7
    del again["metadata"]["labels"]
    await call(api, "PUT", f"{SERVICES}/v2.{group}", again)
    assert (await call(api, "GET", f"{SERVICES}/v2.{group}"))[1]["spec"]["versionPriority"] == 7
    await call(api, "DELETE", f"{CRDS}/{made['metadata']['name']}")
    await reached_absence(api, f"{SERVICES}/v1.{group}")
    assert (await call(api, "GET", f"{SERVICES}/v2.{group}"))[0] == 200


async def reached_absence(api: aiohttp.ClientSession, path: str) -> None:
    """Repeat a GET until an object is removed; clean-up continues beside requests."""
    async with asyncio.timeout(20):
        while (await call(api, "GET", path))[0] != 404:
            await asyncio.sleep(0)


async def test_a_service_marked_as_managed_that_nothing_wants_is_deleted(api: aiohttp.ClientSession) -> None:
    """`checkAPIService`, case 6A; one marked `onstart` that came later is left alone (4A)."""
    for label, code in (("true", 404), ("onstart", 200), ("", 200)):
        name = f"v1.x{label}.example.com"
        spec = {"group": name[3:], "version": "v1", "groupPriorityMinimum": 100, "versionPriority": 10}
        body = {"kind": "APIService", "apiVersion": "apiregistration.k8s.io/v1", "spec": spec}
        body["metadata"] = {"name": name, "labels": {LABEL: label}}
        assert (await call(api, "POST", SERVICES, body))[0] == 201
        assert (await call(api, "GET", f"{SERVICES}/{name}"))[0] == code


async def test_requests_are_passed_on(
    client: aiohttp.ClientSession, backend: Backend, certificate: Certificate
) -> None:
    """`handler_proxy.go`: the user is in X-Remote-*; headers of the client by these names are dropped."""
    await call(client, "POST", SERVICES, service(certificate))
    found = await reached(client, "v1.wardle.example.com", says("Passed"))
    assert condition(found) == ("True", "Passed", "all checks passed")
    headers = {"X-Remote-User": "evil", "X-Remote-Extra-A": "b", "Authorization": "Bearer t", "Audit-ID": "audit"}
    async with client.post(f"{WARDLE}/flunders?b=2&a=%20x", data=b"{}", headers=headers) as answer:
        assert answer.status == 201
        assert answer.headers["Audit-Id"] == "audit"
        reported = await answer.json()
    assert reported["path"] == f"{WARDLE}/flunders?a=+x&b=2"
    assert reported["body"] == "{}"
    given: dict[str, list[str]] = {}
    for name, value in reported["headers"]:
        given.setdefault(name.lower(), []).append(value)
    assert given["x-remote-user"] == ["admin"]
    assert given["x-remote-group"] == ["system:masters", "system:authenticated"]
    assert given["x-forwarded-for"] == ["127.0.0.1"]
    assert given["x-forwarded-uri"] == [f"{WARDLE}/flunders"]
    assert given["audit-id"] == ["audit"]
    assert "authorization" not in given and "x-remote-extra-a" not in given


async def test_watches_and_upgrades_pass_through(
    client: aiohttp.ClientSession, backend: Backend, certificate: Certificate
) -> None:
    """Each piece is passed on as it arrives; a connection that changes its protocol becomes a pipe."""
    await call(client, "POST", SERVICES, service(certificate))
    await reached(client, "v1.wardle.example.com", says("Passed"))
    async with client.get(f"{WARDLE}/watched") as stream:
        assert await stream.content.readline() == b"one\n"
        backend.more.set()
        assert await stream.content.readline() == b"two\n"
        assert await stream.content.read() == b""
    async with client.ws_connect(f"{WARDLE}/socket") as socket:
        for text in ("a", "b"):
            await socket.send_str(text)
            assert (await socket.receive_str()) == f"echo {text}"


@pytest.mark.parametrize("aggregated", [True, False])
async def test_documents_are_merged(
    client: aiohttp.ClientSession, backend: Backend, certificate: Certificate, aggregated: bool
) -> None:
    """Discovery of both forms and OpenAPI of both versions have what a service serves."""
    backend.aggregated = aggregated
    await call(client, "POST", SERVICES, service(certificate))
    await reached(client, "v1.wardle.example.com", says("Passed"))
    assert (await groups(client)).index("wardle.example.com") == len(await groups(client)) - 1
    _, group = await call(client, "GET", "/apis/wardle.example.com")
    assert group["preferredVersion"] == {"groupVersion": "wardle.example.com/v1", "version": "v1"}
    entry = await until(partial(discovered, client), current)
    assert entry is not None
    assert [r["resource"] for r in entry["resources"]] == ["flunders"]

    async def swagger() -> Object:
        document: Object = (await call(client, "GET", "/openapi/v2"))[1]
        return document

    document = await until(swagger, lambda d: f"{WARDLE}/flunders" in d["paths"])
    assert "wardle.Flunder" in document["definitions"]
    assert "/apis/other/" not in document["paths"]
    _, index = await call(client, "GET", "/openapi/v3")
    assert index["paths"][WARDLE[1:]] == {"serverRelativeURL": f"/openapi/v3{WARDLE}?hash=A"}
    _, reported = await call(client, "GET", f"/openapi/v3{WARDLE}?hash=A")
    assert reported["path"] == f"/openapi/v3{WARDLE}?hash=A"
    await call(client, "DELETE", f"{SERVICES}/v1.wardle.example.com")
    assert await discovered(client) is None
    assert f"{WARDLE}/flunders" not in (await swagger())["paths"]


async def test_policies_are_checked_by_the_types_of_services(
    client: aiohttp.ClientSession, backend: Backend, certificate: Certificate
) -> None:
    """The document is asked for by the controller's account; a service without it has no types."""
    await call(client, "POST", SERVICES, service(certificate))
    await until(partial(discovered, client), current)
    policies = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"

    async def warnings(name: str, version: str) -> list[Object]:
        rule = {"apiGroups": ["wardle.example.com"], "apiVersions": [version], "resources": ["flunders"]}
        spec = {
            "matchConstraints": {"resourceRules": [rule | {"operations": ["*"]}]},
            "validations": [{"expression": "object.spec.size == 'large'"}],
            "paramKind": {"apiVersion": "wardle.example.com/v1", "kind": "Flunder"},
        }
        await call(client, "POST", policies, {"metadata": {"name": name}, "spec": spec})

        async def status() -> Object:
            found: Object = (await call(client, "GET", f"{policies}/{name}"))[1].get("status", {})
            return found

        checked = await until(status, lambda found: "observedGeneration" in found)
        found: list[Object] = checked["typeChecking"].get("expressionWarnings", [])
        return found

    (warning,) = await warnings("typed", "v1")
    assert warning["warning"].startswith("wardle.example.com/v1, Kind=Flunder: ERROR: <input>:1:18: ")
    assert "found no matching overload for '_==_' applied to '(int, string)'" in warning["warning"]
    asked = [r for r in backend.seen if r.path == f"/openapi/v3{WARDLE}"]
    account = "system:serviceaccount:kube-system:validatingadmissionpolicy-status-controller"
    assert {r.headers["X-Remote-User"] for r in asked} == {account}
    assert await warnings("elsewhere", "v2") == []
    backend.healthy = False
    assert await warnings("untyped", "v1") == []


async def until(ask: Callable[[], Awaitable[T]], wanted: Callable[[T], bool]) -> T:
    """Repeat a request until the answer is as wanted: documents are fetched beside requests, without notification."""
    async with asyncio.timeout(20):
        while not wanted(found := await ask()):
            await asyncio.sleep(0)
    return found


async def test_an_unavailable_service_is_told_of(
    client: aiohttp.ClientSession, backend: Backend, certificate: Certificate
) -> None:
    """`remote_available_controller.go`, reason by reason; 503 until all checks pass."""
    await call(client, "POST", SERVICES, service(certificate, "absent"))
    name = "v1.wardle.example.com"
    found = await reached(client, name, says("ServiceNotFound"))
    assert condition(found)[2] == 'service/absent in "system" is not present'
    async with client.get(f"{WARDLE}/flunders") as answer:
        assert (answer.status, await answer.text()) == (503, "service unavailable\n")
    accept = {"Accept": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}
    async with client.get("/apis", headers=accept) as answer:
        items = (await answer.json(content_type=None))["items"]
    stale = next(i for i in items if i["metadata"]["name"] == "wardle.example.com")
    assert stale["versions"] == [{"version": "v1", "freshness": "Stale"}]
    await call(client, "POST", "/api/v1/namespaces", {"metadata": {"name": "system"}})
    ports = [{"name": "https", "port": 444, "targetPort": 8443}]
    body: Object = {"metadata": {"name": "absent"}, "spec": {"ports": ports}}
    _, made = await call(client, "POST", "/api/v1/namespaces/system/services", body)
    found = await reached(client, name, says("ServicePortError"))
    assert condition(found)[2] == 'service/absent in "system" is not listening on port 443'
    made["spec"]["ports"][0]["port"] = 443
    await call(client, "PUT", "/api/v1/namespaces/system/services/absent", made)
    found = await reached(client, name, says("EndpointsNotFound"))
    assert condition(found)[2] == 'cannot find endpointslices for service/absent in "system"'
    labels = {"kubernetes.io/service-name": "absent"}
    slices = "/apis/discovery.k8s.io/v1/namespaces/system/endpointslices"
    endpoint: Object = {"metadata": {"name": "absent-1", "labels": labels}, "addressType": "IPv4", "endpoints": []}
    _, found = await call(client, "POST", slices, endpoint | {"ports": [{"name": "https", "port": 1}]})
    reported = await reached(client, name, says("MissingEndpoints"))
    want = 'endpointslices for service/absent in "system" have no addresses with port name "https"'
    assert condition(reported)[2] == want


async def outages(client: aiohttp.ClientSession) -> dict[str, str]:
    """Return the samples about services that are or were unavailable."""
    async with client.get("/metrics") as answer:
        lines = (await answer.text()).splitlines()
    found = dict(line.rsplit(" ", 1) for line in lines if line.startswith("aggregator_unavailable_apiservice"))
    return {name: value for name, value in found.items() if value != "0"}


async def test_a_backend_must_be_trusted_and_well(
    client: aiohttp.ClientSession, backend: Backend, certificate: Certificate
) -> None:
    """FailedDiscoveryCheck has the message of Go's client."""
    backend.healthy = False
    await call(client, "POST", SERVICES, service(certificate))
    name = "v1.wardle.example.com"
    url = f"https://127.0.0.1:{backend.port}{WARDLE}"
    found = await reached(client, name, says("FailedDiscoveryCheck"))
    want = f"failing or missing response from {url}: bad status from {url}: 500"
    assert condition(found) == ("False", "FailedDiscoveryCheck", want)
    assert await outages(client) == {f'aggregator_unavailable_apiservice{{name="{name}"}}': "1"}
    backend.healthy = True
    # It is asked again by and by.
    found = await reached(client, name, says("Passed"))
    del found["spec"]["caBundle"]
    await call(client, "PUT", f"{SERVICES}/{name}", found)
    found = await reached(client, name, says("FailedDiscoveryCheck"))
    why = "tls: failed to verify certificate: x509: certificate signed by unknown authority"
    assert condition(found)[2] == f'failing or missing response from {url}: Get "{url}": {why}'
    # Only what was available before has become unavailable.
    counted = f'aggregator_unavailable_apiservice_total{{name="{name}",reason="FailedDiscoveryCheck"}}'
    assert await outages(client) == {f'aggregator_unavailable_apiservice{{name="{name}"}}': "1", counted: "1"}
    found["spec"]["insecureSkipTLSVerify"] = True
    await call(client, "PUT", f"{SERVICES}/{name}", found)
    found = await reached(client, name, says("Passed"))
    del found["spec"]["service"], found["spec"]["insecureSkipTLSVerify"]
    await call(client, "PUT", f"{SERVICES}/{name}", found)
    assert condition((await call(client, "GET", f"{SERVICES}/{name}"))[1])[1] == "Local"
    assert (await call(client, "GET", f"{WARDLE}/flunders"))[0] == 404


async def test_a_service_is_found_by_its_external_name(
    client: aiohttp.ClientSession, backend: Backend, certificate: Certificate
) -> None:
    """`ResolveCluster`: ExternalName is dialled by name at the port of the API service."""
    await call(client, "POST", "/api/v1/namespaces", {"metadata": {"name": "system"}})
    spec = {"type": "ExternalName", "externalName": "localhost"}
    body: Object = {"metadata": {"name": "outside"}, "spec": spec}
    assert (await call(client, "POST", "/api/v1/namespaces/system/services", body))[0] == 201
    where = {"namespace": "system", "name": "outside", "port": backend.port}
    made = service(certificate, service=where, insecureSkipTLSVerify=True)
    del made["spec"]["caBundle"]
    await call(client, "POST", SERVICES, made)
    await reached(client, "v1.wardle.example.com", says("Passed"))
    assert (await call(client, "GET", f"{WARDLE}/flunders"))[0] == 200
