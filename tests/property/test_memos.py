"""Reads by memos: whatever is written in between, they are as the chain answers them."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import orjson
import pytest

from hydrofoil.endpoints import wire
from hydrofoil.endpoints.context import Context
from hydrofoil.options import Texts
from hydrofoil.server.config import Config
from tests.api.clients import Client, dial
from tests.api.rights import GROUP, RBAC, TOKENS
from tests.api.secure import serving, write

STEPS = 400
MAPS = "/api/v1/namespaces/default/configmaps"
PODS = "/api/v1/namespaces/default/pods"
USERS = ("admin", "ada", "bob")
NAMES = ("a", "b", "c")
FORMS = (
    "application/json",
    "application/vnd.kubernetes.protobuf",
    "application/json;as=Table;g=meta.k8s.io;v=v1",
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
)
QUERIES = ("", "", "?limit=500&resourceVersion=0", "?labelSelector=k", "?resourceVersion=0", "?limit=1")
VARIES = re.compile(rb"(Audit-Id|Date|Content-Length): [^\r]*|\"\d+[smh]\"")
"""What differs between two answers: ids, times and ages."""


def binding(user: str) -> bytes:
    """Return a binding that lets a user read config maps and pods."""
    role = {"apiGroup": GROUP, "kind": "ClusterRole", "name": "read"}
    subject = {"apiGroup": GROUP, "kind": "User", "name": user}
    return orjson.dumps({"metadata": {"name": user}, "roleRef": role, "subjects": [subject]})


def role(chance: random.Random) -> bytes:
    """Return a role to read config maps, some of them, or pods, too."""
    rule = chance.choice(
        (
            {"resources": ["configmaps", "pods"], "verbs": ["get", "list"]},
            {"resources": ["configmaps"], "verbs": ["get"]},
            {"resources": ["configmaps"], "verbs": ["get", "list"], "resourceNames": ["a"]},
        )
    )
    return orjson.dumps({"metadata": {"name": "read"}, "rules": [{"apiGroups": [""], **rule}]})


def draw(chance: random.Random) -> tuple[str, str, bytes | None]:
    """Return a request line, its user and its body: most are reads."""
    kind, name = chance.random(), chance.choice(NAMES)
    if kind < 0.75:
        path = f"{MAPS}/{name}" if chance.random() < 0.6 else chance.choice((MAPS, PODS))
        return f"GET {path}{chance.choice(QUERIES)}", chance.choice(USERS), None
    labels = {"k": "v"} if chance.random() < 0.5 else {}
    body = {
        "metadata": {"name": name, "labels": labels},
        "data": {"a": "x" * chance.choice((1, 10, 100, 1000, 70_000))},
    }
    return chance.choice(
        (
            (f"POST {MAPS}", "admin", orjson.dumps(body)),
            (f"PUT {MAPS}/{name}", "admin", orjson.dumps(body)),
            (f"DELETE {MAPS}/{name}", "admin", None),
            (f"POST {RBAC}/clusterrolebindings", "admin", binding(chance.choice(USERS))),
            (f"DELETE {RBAC}/clusterrolebindings/{chance.choice(USERS)}", "admin", None),
            (f"PUT {RBAC}/clusterroles/read", "admin", role(chance)),
        )
    )


async def ask(client: Client, line: str, *headers: str, body: bytes | None = None) -> bytes:
    """Return an answer without id, time and ages."""
    client.send(line, *headers, body=body)
    return VARIES.sub(b"", b"".join(await client.answer()))


@pytest.fixture
def chain(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    """Yield how often requests passed the chain, by their method."""
    passed: Counter[str] = Counter()

    class Noted(Context):
        def __init__(self, request: Any, parts: Any) -> None:
            super().__init__(request, parts)
            passed[request.method] += request.transport.get_extra_info("hydrofoil.memory") is None

    monkeypatch.setattr(wire, "Context", Noted)
    yield passed


@pytest.mark.parametrize("seed", range(3))
async def test_memos_answer_as_the_chain_does(tmp_path: Path, chain: Counter[str], seed: int) -> None:
    write(tmp_path / "tokens", TOKENS)
    modes = Texts(("Node", "RBAC"))
    config = Config(port=0, controllers="", token_auth_file=str(tmp_path / "tokens"), authorization_mode=modes)
    chance = random.Random(seed)
    async with serving(config) as server, AsyncExitStack() as stack:
        clients = {user: await dial(server) for user in USERS}
        for client in clients.values():
            stack.push_async_callback(client.close)
        assert b" 201 " in await ask(
            clients["admin"], f"PUT {RBAC}/clusterroles/read", token("admin"), body=role(chance)
        )
        seen = set()
        reads = 0
        for step in range(STEPS):
            line, user, body = draw(chance)
            lines = token(user), f"Accept: {chance.choice(FORMS)}"
            answer = await ask(clients[user], line, *lines, body=body)
            seen.add(answer[9:12])
            if line.startswith("GET"):
                # A head that no request had before has no memo.
                assert answer == await ask(clients[user], line, *lines, f"X-Step: {step}"), (step, line, lines)
                assert answer == await ask(clients[user], line, *lines), (step, line, lines)
                reads += 1
        assert {b"200", b"201", b"403", b"404"} <= seen
        # Memos have answered many of them.
        assert chain["GET"] < 3 * reads - STEPS / 16


def token(user: str) -> str:
    """Return the header line with the token of a user."""
    return f"Authorization: Bearer {user}-token"
