"""Reads that are answered by memos: as the chain answers them, as long as it would decide the same."""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest

from hydrofoil.endpoints import wire
from hydrofoil.endpoints.context import Context
from hydrofoil.options import Texts
from hydrofoil.server.config import Config
from hydrofoil.server.run import Server
from tests.api.clients import Client, dial
from tests.api.custom import CRDS, THINGS, definition, thing, version
from tests.api.rights import GROUP, RBAC, TOKENS
from tests.api.secure import make, serving, write

MAPS = "/api/v1/namespaces/default/configmaps"
PODS = "/api/v1/namespaces/default/pods"
ADMIN = "Authorization: Bearer admin-token"
ADA = "Authorization: Bearer ada-token"
SECOND = 1_000_000_000
METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1"


class Chain:
    """The requests that passed the chain."""

    def __init__(self) -> None:
        self.targets: list[str] = []

    def take(self) -> int:
        """Return their number since the last call."""
        count, self.targets = len(self.targets), []
        return count


@pytest.fixture
def chain(monkeypatch: pytest.MonkeyPatch) -> Iterator[Chain]:
    found = Chain()

    class Noted(Context):
        def __init__(self, request: Any, parts: Any) -> None:
            super().__init__(request, parts)
            if request.transport.get_extra_info("hydrofoil.memory") is None:
                found.targets.append(request.raw_path)

    monkeypatch.setattr(wire, "Context", Noted)
    yield found


@asynccontextmanager
async def dialing(server: Server, tls: ssl.SSLContext | None = None) -> AsyncIterator[Client]:
    client = await dial(server, tls)
    yield client
    await client.close()


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with serving(Config(port=0, controllers="")) as found:
        yield found


@pytest.fixture
async def client(server: Server) -> AsyncIterator[Client]:
    async with dialing(server) as found:
        for body in (named("a"), labelled("b")):
            assert b" 201 " in await found.ask(f"POST {MAPS}", body=body)
        yield found


def named(name: str, **members: Any) -> bytes:
    return orjson.dumps({"metadata": {"name": name}, **members})


async def learn(client: Client, chain: Chain, line: str, *headers: str) -> bytes:
    """Ask twice: the parser reads the head of the first request, the second one leaves a memo. Return its answer."""
    first = await client.ask(line, *headers)
    assert await client.ask(line, *headers) == first
    chain.take()
    return first


async def test_objects_beside_one_that_was_read_are_read_without_the_chain(client: Client, chain: Chain) -> None:
    first = await learn(client, chain, f"GET {MAPS}/a")
    assert await client.ask(f"GET {MAPS}/a") == first
    assert b'"name":"b"' in await client.ask(f"GET {MAPS}/b") and chain.take() == 0
    # An absent one is refused by the chain, and leaves the memo as it is.
    assert b" 404 " in await client.ask(f"GET {MAPS}/c")
    assert chain.take() == 1
    assert await client.ask(f"GET {MAPS}/a") == first and chain.take() == 0


async def test_the_answer_is_the_present_object(client: Client, chain: Chain) -> None:
    await learn(client, chain, f"GET {MAPS}/a")
    for value in ("1", "2"):
        assert b" 200 " in await client.ask(f"PUT {MAPS}/a", body=named("a", data={"k": value}))
        chain.take()
        assert f'"k":"{value}"'.encode() in await client.ask(f"GET {MAPS}/a") and chain.take() == 0
    assert b" 200 " in await client.ask(f"DELETE {MAPS}/a")
    assert b" 404 " in await client.ask(f"GET {MAPS}/a")


@pytest.mark.parametrize(
    "accept",
    [
        "application/json",
        "application/vnd.kubernetes.protobuf",
        "application/json;as=Table;g=meta.k8s.io;v=v1",
        "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
        "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
    ],
)
@pytest.mark.parametrize("query", ["", "?resourceVersion=0"])
async def test_every_form_is_that_of_the_chain(client: Client, chain: Chain, accept: str, query: str) -> None:
    line = f"GET {MAPS}/a{query}", f"Accept: {accept}", "Accept-Encoding: gzip"
    client.send(*line)
    head, body = await client.answer()
    await learn(client, chain, *line)
    client.send(*line)
    again, same = await client.answer()
    varies = re.compile(rb"(Audit-Id|Date): [^\r]*")
    assert same == body and varies.sub(b"", again) == varies.sub(b"", head) and chain.take() == 0
    assert re.search(rb"\r\nAudit-Id: [0-9a-f-]{36}\r\n", again) and b"\r\nDate: " in again


@pytest.mark.parametrize(
    "query",
    [
        "",
        "?resourceVersion=0",
        "?limit=500&resourceVersion=0",
        "?limit=500",
        "?limit=3",
        "?labelSelector=k",
        "?fieldSelector=metadata.name%3Da",
    ],
)
@pytest.mark.parametrize("accept", ["application/json", "application/vnd.kubernetes.protobuf", TABLE, METADATA])
async def test_a_short_list_is_that_of_the_chain(client: Client, chain: Chain, accept: str, query: str) -> None:
    line = f"GET {MAPS}{query}", f"Accept: {accept}", "Accept-Encoding: gzip"
    await learn(client, chain, *line)
    known = await whole(client, *line)
    assert chain.take() == 0
    assert b" 201 " in await client.ask(f"POST {MAPS}", body=labelled("c"))
    chain.take()
    present = await whole(client, *line)
    assert present != known and chain.take() == 0
    # The chain, asked by another head.
    assert present == await whole(client, *line, "X-Other: a") and chain.take() == 1


def labelled(name: str) -> bytes:
    return orjson.dumps({"metadata": {"name": name, "labels": {"k": "v"}}})


async def whole(client: Client, *line: str) -> tuple[bytes, bytes]:
    """Return head and body of an answer without id and date."""
    client.send(*line)
    head, body = await client.answer()
    return re.sub(rb"(Audit-Id|Date): [^\r]*", b"", head), body


async def test_a_list_that_becomes_long_is_made_by_the_chain(client: Client, chain: Chain) -> None:
    line = f"GET {MAPS}?resourceVersion=0", "Accept-Encoding: gzip"
    await learn(client, chain, *line)
    assert b"gzip" not in await client.ask(*line) and chain.take() == 0
    for number in range(3):
        large = named(f"large-{number}", data={"a": "x" * 50_000})
        assert b" 201 " in await client.ask(f"POST {MAPS}", body=large)
    chain.take()
    client.send(*line)
    assert b"Content-Encoding: gzip" in (await client.answer())[0] and chain.take() == 1


async def test_a_list_without_items_is_that_of_the_chain(client: Client, chain: Chain) -> None:
    line = "GET /api/v1/namespaces/none/configmaps", "Accept-Encoding: gzip"
    await learn(client, chain, *line)
    known = await whole(client, *line)
    assert b'"items":[]' in known[1] and chain.take() == 0
    assert known == await whole(client, *line, "X-Other: a") and chain.take() == 1


@pytest.mark.parametrize(
    "line",
    [
        (f"GET {MAPS}/a?pretty=true",),
        (f"GET {MAPS}/a", "User-Agent: curl/8"),
        (f"GET {MAPS}/a", "Accept: application/yaml"),
        (f"GET {MAPS}/a?timeout=5s",),
        (f"GET {MAPS}/a?resourceVersion=1",),
        (f"GET {MAPS}/a", "Audit-ID: mine"),
        (f"GET {MAPS}/a", "Impersonate-User: ada", "Impersonate-Group: system:masters"),
        (f"GET {MAPS}/a", "Connection: keep-alive"),
        (f"GET {MAPS}/large",),
        (f"GET {PODS}/p/status",),
        (f"GET {MAPS}/c",),
        (f"GET {MAPS}?limit=1",),
        (f"GET {MAPS}?resourceVersion=1",),
        (f"GET {MAPS}", "Accept: application/cbor"),
        (f"GET {MAPS}?watch=false",),
        ("GET /api/v1/namespaces/none/configmaps", f"Accept: {METADATA}"),
        (f"HEAD {MAPS}/a",),
        ("GET /version",),
    ],
)
async def test_other_requests_pass_the_chain(client: Client, chain: Chain, line: tuple[str, ...]) -> None:
    assert b" 201 " in await client.ask(f"POST {MAPS}", body=named("large", data={"a": "x" * 100_000}))
    pod = {"spec": {"containers": [{"name": "c", "image": "i"}]}}
    assert b" 201 " in await client.ask(f"POST {PODS}", body=named("p", **pod))
    chain.take()
    answers = set()
    for asked in range(1, 5):
        client.send(*line)
        head, _ = await (client.head() if line[0].startswith("HEAD") else client.answer())
        answers.add(head[:12])
        assert chain.take() == 1, asked
    assert len(answers) == 1


@pytest.mark.parametrize("flags", [{"request_memos": False}, {"enable_priority_and_fairness": False}, {"verbosity": 4}])
async def test_some_servers_have_none(chain: Chain, flags: dict[str, Any]) -> None:
    async with serving(Config(port=0, controllers="", **flags)) as server, dialing(server) as client:
        assert b" 201 " in await client.ask(f"POST {MAPS}", body=named("a"))
        for _ in range(4):
            chain.take()
            assert b" 200 " in await client.ask(f"GET {MAPS}/a")
            assert chain.take() == 1


@pytest.fixture
async def guarded(tmp_path: Path) -> AsyncIterator[Server]:
    """A server on which ada may get config maps, by a binding `maps`."""
    write(tmp_path / "tokens", TOKENS)
    config = Config(
        port=0, controllers="", token_auth_file=str(tmp_path / "tokens"), authorization_mode=Texts(("RBAC",))
    )
    async with serving(config) as server, dialing(server) as client:
        rules = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]}]
        await post(client, f"{RBAC}/clusterroles", {"metadata": {"name": "maps"}, "rules": rules})
        await post(client, f"{RBAC}/clusterrolebindings", bound("maps"))
        for name in ("a", "b"):
            await post(client, MAPS, {"metadata": {"name": name}})
        yield server


def bound(role: str) -> dict[str, Any]:
    return {
        "metadata": {"name": role},
        "roleRef": {"apiGroup": GROUP, "kind": "ClusterRole", "name": role},
        "subjects": [{"apiGroup": GROUP, "kind": "User", "name": "ada"}],
    }


async def post(client: Client, path: str, body: dict[str, Any]) -> None:
    assert b" 201 " in await client.ask(f"POST {path}", ADMIN, body=orjson.dumps(body))


async def test_a_right_ends_with_its_binding(guarded: Server, chain: Chain) -> None:
    async with dialing(guarded) as admin, dialing(guarded) as ada:
        assert b" 200 " in await learn(ada, chain, f"GET {MAPS}/a", ADA)
        assert b" 200 " in await ada.ask(f"GET {MAPS}/b", ADA) and chain.take() == 0
        assert b" 200 " in await admin.ask(f"DELETE {RBAC}/clusterrolebindings/maps", ADMIN)
        assert b" 403 " in await ada.ask(f"GET {MAPS}/a", ADA)
        await post(admin, f"{RBAC}/clusterrolebindings", bound("maps"))
        assert b" 200 " in await ada.ask(f"GET {MAPS}/a", ADA)
        # The same lines without the token are another request.
        assert b" 403 " in await ada.ask(f"GET {MAPS}/a") or b" 401 " in await ada.ask(f"GET {MAPS}/a")


async def test_a_right_to_some_names_is_looked_at_each_time(guarded: Server, chain: Chain) -> None:
    async with dialing(guarded) as admin, dialing(guarded) as ada:
        rules = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"], "resourceNames": ["a"]}]
        role = orjson.dumps({"metadata": {"name": "maps"}, "rules": rules})
        assert b" 200 " in await admin.ask(f"PUT {RBAC}/clusterroles/maps", ADMIN, body=role)
        for _ in range(3):
            assert b" 200 " in await ada.ask(f"GET {MAPS}/a", ADA)
            assert b" 403 " in await ada.ask(f"GET {MAPS}/b", ADA)


def authorizers(*types: str) -> str:
    """Return a configuration with these authorizers."""
    named = [{"type": kind, "name": kind.lower()} for kind in types]
    head = {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthorizationConfiguration"}
    return orjson.dumps({**head, "authorizers": named}).decode()


async def test_a_right_ends_with_the_configuration_that_gave_it(tmp_path: Path, chain: Chain) -> None:
    write(tmp_path / "tokens", TOKENS)
    write(tmp_path / "authorizers", authorizers("RBAC"))
    tokens, path = str(tmp_path / "tokens"), str(tmp_path / "authorizers")
    config = Config(port=0, controllers="", token_auth_file=tokens, authorization_config=path)
    async with serving(config) as server, dialing(server) as admin, dialing(server) as ada:
        rules = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]}]
        await post(admin, f"{RBAC}/clusterroles", {"metadata": {"name": "maps"}, "rules": rules})
        await post(admin, f"{RBAC}/clusterrolebindings", bound("maps"))
        await post(admin, MAPS, {"metadata": {"name": "a"}})
        assert b" 200 " in await learn(ada, chain, f"GET {MAPS}/a", ADA)
        assert b" 200 " in await ada.ask(f"GET {MAPS}/a", ADA) and chain.take() == 0
        # Others decide from now on, if to the same effect here: the chain asks them.
        write(tmp_path / "authorizers", authorizers("Node", "RBAC"))
        async with asyncio.timeout(20):
            while not chain.take():
                assert b" 200 " in await ada.ask(f"GET {MAPS}/a", ADA)


async def test_a_login_is_looked_at_again_after_its_time(guarded: Server, chain: Chain) -> None:
    clock = guarded.app.core.clock
    async with dialing(guarded) as ada:
        await learn(ada, chain, f"GET {MAPS}/a", ADA)
        assert b" 200 " in await ada.ask(f"GET {MAPS}/a", ADA) and chain.take() == 0
        clock.advance(11 * SECOND)
        assert b" 200 " in await ada.ask(f"GET {MAPS}/a", ADA) and chain.take() == 1
        assert b" 200 " in await ada.ask(f"GET {MAPS}/a", ADA) and chain.take() == 1
        assert b" 200 " in await ada.ask(f"GET {MAPS}/a", ADA) and chain.take() == 0
        # What was looked at before its time is over.
        guarded.app.authentication.forget()
        assert b" 200 " in await ada.ask(f"GET {MAPS}/a", ADA) and chain.take() == 1


async def test_certificates_are_not_those_of_others(tmp_path: Path, chain: Chain) -> None:
    files = make(tmp_path)
    config = Config(
        port=0,
        controllers="",
        tls_cert_file=files.cert,
        tls_private_key_file=files.key,
        client_ca_file=str(tmp_path / "ca.crt"),
    )

    def user(name: str, group: str) -> ssl.SSLContext:
        context = files.client()
        context.load_cert_chain(*files.pair(name, [], (name, group)))
        return context

    async with serving(config) as server:
        root, nobody = user("root", "system:masters"), user("nobody", "crew")
        async with dialing(server, root) as admin, dialing(server, nobody) as other, dialing(server, root) as second:
            assert b" 201 " in await admin.ask(f"POST {MAPS}", body=named("a"))
            # A certificate is verified again after a second.
            for _ in range(3):
                assert b" 200 " in await admin.ask(f"GET {MAPS}/a")
            chain.take()
            assert b" 200 " in await second.ask(f"GET {MAPS}/a") and chain.take() == 0
            for _ in range(3):
                assert b" 403 " in await other.ask(f"GET {MAPS}/a")
            server.app.core.clock.advance(2 * SECOND)
            chain.take()
            assert b" 200 " in await admin.ask(f"GET {MAPS}/a") and chain.take() == 1


async def test_a_flow_is_that_of_the_present_schema(guarded: Server, chain: Chain) -> None:
    schemas = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas"
    subject = {"kind": "User", "user": {"name": "ada"}}
    rule = {"verbs": ["get"], "apiGroups": [""], "resources": ["configmaps"], "namespaces": ["*"]}
    spec = {
        "priorityLevelConfiguration": {"name": "exempt"},
        "matchingPrecedence": 2,
        "rules": [{"subjects": [subject], "resourceRules": [rule]}],
    }
    flow = re.compile(rb"FlowSchema-UID: (\S+)")

    async def uid(client: Client) -> bytes:
        client.send(f"GET {MAPS}/a", ADA)
        head, _ = await client.answer()
        found = flow.search(head)
        assert found is not None
        return found[1]

    async with dialing(guarded) as admin, dialing(guarded) as ada:
        await learn(ada, chain, f"GET {MAPS}/a", ADA)
        before = await uid(ada)
        assert chain.take() == 0
        await post(admin, schemas, {"metadata": {"name": "mine"}, "spec": spec})
        async with asyncio.timeout(5):
            while await uid(ada) == before:
                await asyncio.sleep(0)


async def test_a_definition_takes_its_objects_with_it(client: Client, chain: Chain) -> None:
    body = orjson.dumps(definition(version("v1", storage=True)))
    assert b" 201 " in await client.ask(f"POST {CRDS}", body=body)
    async with asyncio.timeout(5):
        while b" 201 " not in await client.ask(f"POST {THINGS}", body=orjson.dumps(thing("a"))):
            await asyncio.sleep(0)
    await learn(client, chain, f"GET {THINGS}/a")
    assert b" 200 " in await client.ask(f"GET {THINGS}/a") and chain.take() == 0
    assert b" 200 " in await client.ask(f"DELETE {CRDS}/things.e.com")
    async with asyncio.timeout(5):
        while b" 200 " in await client.ask(f"GET {THINGS}/a"):
            await asyncio.sleep(0)


COUNTED = (
    "apiserver_request_total",
    "apiserver_request_duration_seconds_count",
    "apiserver_response_sizes_sum",
    "apiserver_response_sizes_count",
    "apiserver_storage_list",
    "apiserver_cache_list",
    "apiserver_flowcontrol_request_concurrency_in_use",
    "apiserver_flowcontrol_work_estimated_seats",
    "apiserver_flowcontrol_dispatched_requests_total",
    "apiserver_authorization_decisions_total",
    "authenticated_user_requests",
    "authentication_duration_seconds_count",
    "authorization_duration_seconds_count",
    "authentication_token_cache_request_total",
)


def counts(text: str) -> dict[str, float]:
    lines = (line.rpartition(" ") for line in text.splitlines() if line.startswith(COUNTED) and "metrics" not in line)
    return {name: float(value) for name, _, value in lines}


@pytest.mark.parametrize("user", ["admin", "ada"])
async def test_metrics_are_those_of_the_chain(tmp_path: Path, chain: Chain, user: str) -> None:
    token = f"Authorization: Bearer {user}-token"
    write(tmp_path / "tokens", TOKENS)
    seen = []
    for memos in (True, False):
        config = Config(
            port=0,
            controllers="",
            token_auth_file=str(tmp_path / "tokens"),
            authorization_mode=Texts(("Node", "RBAC")),
            request_memos=memos,
        )
        async with serving(config) as server, dialing(server) as admin, dialing(server) as client:
            rules = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list"]}]
            await post(admin, f"{RBAC}/clusterroles", {"metadata": {"name": "maps"}, "rules": rules})
            await post(admin, f"{RBAC}/clusterrolebindings", bound("maps"))
            await post(admin, MAPS, {"metadata": {"name": "a"}})
            found = []
            for passed in (2, 1):
                # The head is known in the second round, in which the memo was ended by the reset.
                chain.take()
                for _ in range(7):
                    assert b" 200 " in await client.ask(f"GET {MAPS}/a", token)
                    assert b" 200 " in await client.ask(f"GET {MAPS}?limit=500", token)
                # Lines that are known are so for both.
                assert chain.take() == (passed + 1 if memos else 14)
                admin.send("GET /metrics", ADMIN)
                found.append(counts((await admin.answer())[1].decode()))
                assert b" 200 " in await admin.ask("DELETE /metrics", ADMIN)
            seen.append(found)
    with_memos, without = seen
    assert with_memos == without and len(without[0]) > len(COUNTED)


async def test_an_answer_that_cannot_be_looked_up_is_made_by_the_chain(
    client: Client, chain: Chain, server: Server, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    first = await learn(client, chain, f"GET {MAPS}/a")

    def fail(*_: object) -> None:
        raise RuntimeError("no")

    monkeypatch.setattr(server.app.core.memos, "answer", fail)
    assert await client.ask(f"GET {MAPS}/a") == first and chain.take() == 1
    assert "a head was not looked up" in caplog.text


async def test_requests_that_arrive_together_are_answered_in_order(client: Client, chain: Chain) -> None:
    await learn(client, chain, f"GET {MAPS}/a")
    line = f"GET {MAPS}/a HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    client.writer.write(line + line.replace(b"/a ", b"/c ") + line.replace(b"/a ", b"/b "))
    assert [(await client.answer())[0][9:12] for _ in range(3)] == [b"200", b"404", b"200"]


async def test_a_connection_ends_with_its_server(chain: Chain) -> None:
    async with serving(Config(port=0, controllers="")) as server:
        client = await dial(server)
        assert b" 201 " in await client.ask(f"POST {MAPS}", body=named("a"))
        await learn(client, chain, f"GET {MAPS}/a")
    client.send(f"GET {MAPS}/a")
    assert await client.reader.read() == b""
    await client.close()
