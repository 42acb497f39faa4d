"""Webhooks that decide: answers that are not valid, and answers kept for others."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from hydrofoil.options import Texts
from tests.api.rights import Guarded, guarded, rule

MAPS = "/api/v1/namespaces/default/configmaps"
REVIEW = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview"}
YES = {**REVIEW, "status": {"allowed": True}}


class Decider:
    """A webhook: `answers` has one by the name of the user; all others are allowed."""

    def __init__(self) -> None:
        self.answers: dict[str, Any] = {}
        self.asked: Counter[str] = Counter()
        self.elsewhere = 0
        self.last: Any = None
        self.url = ""

    async def decide(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.path == "/elsewhere":
            self.elsewhere += 1
            return web.json_response(YES)
        self.last = await request.json()
        user = self.last["spec"]["user"]
        self.asked[user] += 1
        answer = self.answers.get(user, YES)
        if callable(answer):
            made: web.StreamResponse = await answer(request)
            return made
        if isinstance(answer, tuple):
            return web.Response(status=answer[0], text=answer[1], headers=answer[2] if len(answer) > 2 else {})
        return web.json_response(answer)


@pytest.fixture
async def decider() -> AsyncIterator[Decider]:
    made = Decider()
    runner = web.ServerRunner(web.Server(made.decide))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    made.url = site.name
    yield made
    await runner.cleanup()


def kubeconfig(folder: Path, url: str) -> str:
    path = folder / "webhook.kubeconfig"
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": f"{url}/decide"}}],
        "contexts": [{"name": "x", "context": {"cluster": "c"}}],
        "current-context": "x",
    }
    path.write_text(json.dumps(config))
    return str(path)


def configured(folder: Path, url: str, *more: dict[str, Any], **changes: Any) -> str:
    """Write a configuration with one webhook and further authorizers."""
    hook = {
        "timeout": "5s",
        "failurePolicy": "Deny",
        "subjectAccessReviewVersion": "v1",
        "connectionInfo": {"type": "KubeConfigFile", "kubeConfigFile": kubeconfig(folder, url)},
    }
    authorizers = [{"type": "Webhook", "name": "decider", "webhook": {**hook, **changes}}, *more]
    return written(folder, authorizers)


def written(folder: Path, authorizers: Any) -> str:
    head = {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthorizationConfiguration"}
    path = folder / "authorization.json"
    path.write_text(json.dumps({**head, "authorizers": authorizers}))
    return str(path)


@asynccontextmanager
async def serving(folder: Path, decider: Decider, *more: dict[str, Any], **changes: Any) -> AsyncIterator[Guarded]:
    path = await asyncio.to_thread(configured, folder, decider.url, *more, **changes)
    async with guarded(folder, authorization_config=path) as server:
        yield server


async def status(server: Guarded, user: str, path: str = MAPS, **headers: str) -> int:
    """Return the status of a request on behalf of a user."""
    sent = {"Impersonate-User": user} | {f"Impersonate-{key.replace('_', '-')}": v for key, v in headers.items()}
    return (await server.ask("admin", "GET", path, None, sent))[0]


async def drips(request: web.BaseRequest) -> web.StreamResponse:
    """Send an answer for as long as the other side reads it."""
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    await response.prepare(request)
    try:
        while True:
            await response.write(b" ")
            await asyncio.sleep(0.05)
    except ConnectionError:
        return response


async def floods(request: web.BaseRequest) -> web.StreamResponse:
    """Send an answer without an end."""
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    await response.prepare(request)
    try:
        while True:
            await response.write(b" " * 65536)
    except ConnectionError:
        return response


ODD: dict[str, Any] = {
    "text": (200, "not JSON"),
    "list": (200, "[]"),
    "number": (200, "1"),
    "empty": (200, ""),
    "other-kind": {**YES, "kind": "Pod"},
    "other-version": {**YES, "apiVersion": "authorization.k8s.io/v7"},
    "status": {"apiVersion": "v1", "kind": "Status", "status": "Success"},
    "text-for-bool": {**REVIEW, "status": {"allowed": "true"}},
    "number-for-bool": {**REVIEW, "status": {"allowed": 1}},
    "list-for-status": {**REVIEW, "status": [{"allowed": True}]},
    "reason-of-an-object": {**REVIEW, "status": {"allowed": True, "reason": {}}},
    "both": {**REVIEW, "status": {"allowed": True, "denied": True}},
    "error": (500, json.dumps(YES)),
    "refused": (403, json.dumps(YES)),
    "not-found": (404, json.dumps(YES)),
    "moved": (302, "", {"Location": "/elsewhere"}),
    "moved-with-its-body": (307, "", {"Location": "/elsewhere"}),
    "moved-with-an-answer": (301, json.dumps(YES), {"Location": "/elsewhere"}),
    "declared-huge": (200, json.dumps({**REVIEW, "status": {"allowed": True, "reason": "x" * (2 << 20)}})),
    "floods": floods,
    "drips": drips,
}


@pytest.mark.parametrize("name", ODD)
async def test_an_answer_that_is_none_allows_nothing(tmp_path: Path, decider: Decider, name: str) -> None:
    """It is an error, which refuses at once, and the place that a redirect names is never asked."""
    decider.answers["odd"] = ODD[name]
    async with serving(tmp_path, decider, timeout="1s") as server:
        assert await status(server, "plain") == 200
        code, text = await server.ask("admin", "GET", MAPS, None, {"Impersonate-User": "odd"})
        assert code == 500
        assert text.startswith(f'Internal Server Error: "{MAPS}": ')
        assert len(text) < 2000
        assert decider.elsewhere == 0
        assert await status(server, "plain") == 200
    assert decider.asked["odd"] == 1


async def test_an_error_leaves_the_decision_to_the_next_where_the_policy_says_so(
    tmp_path: Path, decider: Decider
) -> None:
    """RBAC decides where it allows, the rest is the error (access.md); allowed and denied together is an error too."""
    decider.answers |= {"ada": (500, "lost"), "both": ODD["both"]}
    rbac = {"type": "RBAC", "name": "rbac"}
    async with serving(tmp_path, decider, rbac, failurePolicy="NoOpinion") as server:
        for user in ("ada", "both"):
            await server.allow(user, f"lists-{user}", rule("list", "configmaps"), namespace="default")
        assert await status(server, "ada") == 200
        assert await status(server, "ada", f"{MAPS}/x") == 500
        assert await status(server, "both") == 500


async def test_a_denial_is_final(tmp_path: Path, decider: Decider) -> None:
    no = {**REVIEW, "status": {"allowed": False}}
    decider.answers |= {"denied": {**REVIEW, "status": {"denied": True}}, "silent": no}
    async with serving(tmp_path, decider, {"type": "RBAC", "name": "rbac"}) as server:
        for user in ("denied", "silent"):
            await server.allow(user, f"lists-{user}", rule("list", "configmaps"), namespace="default")
        assert await status(server, "silent") == 200
        assert await status(server, "denied") == 403
        assert (await server.ask("admin", "GET", MAPS))[0] == 200
        assert decider.asked["admin"] == 0


async def test_kept_answers_are_not_shared(tmp_path: Path, decider: Decider) -> None:
    """Users that differ in group, uid or extra, and requests that differ in a selector, are asked about anew."""
    async with serving(tmp_path, decider) as server:
        for _ in range(3):
            assert await status(server, "kim") == 200
        assert decider.asked["kim"] == 1
        decider.answers["kim"] = {**REVIEW, "status": {"denied": True}}
        assert await status(server, "kim") == 200
        assert await status(server, "kim", f"{MAPS}?limit=5") == 200
        for headers in ({"Group": "g"}, {"Uid": "u"}, {"Extra_scope": "x"}, {"Group": "g", "Uid": "u"}):
            assert await status(server, "kim", **headers) == 403, headers
        for path in (f"{MAPS}/x", f"{MAPS}?labelSelector=a", f"{MAPS}?watch=1", "/api/v1/configmaps", "/version"):
            assert await status(server, "kim", path) == 403, path
        assert await status(server, "Kim") == 200
        assert decider.asked["Kim"] == 1


async def test_answers_to_long_requests_are_not_kept(tmp_path: Path, decider: Decider) -> None:
    """A client cannot fill the memory of the server with attributes (`shouldCache`)."""
    async with serving(tmp_path, decider) as server:
        for path, expected in ((f"{MAPS}/{'x' * 200}", 1), (f"{MAPS}/{'x' * 10000}", 3)):
            decider.asked.clear()
            for _ in range(3):
                assert await status(server, "long", path) == 404
            assert decider.asked["long"] == expected


async def test_a_slow_webhook_holds_up_its_own_requests_alone(tmp_path: Path, decider: Decider) -> None:
    """Others continue, and the time limit of the configuration ends the wait."""
    decider.answers["slow"] = drips
    async with serving(tmp_path, decider, timeout="2s") as server:
        assert await status(server, "quick") == 200
        waiting = [asyncio.create_task(status(server, "slow", f"{MAPS}/{n}")) for n in range(20)]
        for _ in range(20):
            # An answer that is kept, so that this webhook has no part in it.
            assert await status(server, "quick") == 200
        assert not any(each.done() for each in waiting)
        assert await asyncio.gather(*waiting) == [500] * 20
        _, text = await server.ask("admin", "GET", "/metrics")
        assert 'apiserver_authorization_webhook_evaluations_total{name="decider",result="timeout"} 20' in text
        assert 'apiserver_authorization_decisions_total{decision="denied",name="decider",type="Webhook"} 20' in text


async def test_a_webhook_that_is_busy_is_asked_again(tmp_path: Path, decider: Decider) -> None:
    """429 and a lost connection are (`DefaultShouldRetry`); 500 is not (access.md)."""

    async def busy(_: web.BaseRequest) -> web.StreamResponse:
        if decider.asked["busy"] == 1:
            return web.Response(status=429)
        return web.json_response(YES)

    decider.answers["busy"] = busy
    async with serving(tmp_path, decider) as server:
        assert await status(server, "busy") == 200
    assert decider.asked["busy"] == 2


async def test_conditions_choose_the_requests(tmp_path: Path, decider: Decider) -> None:
    """One that fails refuses under the policy Deny; a false one skips the webhook whatever else fails."""
    conditions = ["has(request.resourceAttributes)", "request.user != 'free'"]
    conditions.append("request.resourceAttributes.name.split('-')[1] == 'b'")
    given = [{"expression": text} for text in conditions]
    more = {"matchConditions": given, "matchConditionSubjectAccessReviewVersion": "v1"}
    async with serving(tmp_path, decider, **more) as server:
        assert await status(server, "kim", f"{MAPS}/a-b") == 404
        assert await status(server, "kim", f"{MAPS}/a-c") == 403
        assert await status(server, "kim", f"{MAPS}/a") == 500
        assert await status(server, "free", f"{MAPS}/a") == 403
        assert await status(server, "kim", "/version") == 403
    assert decider.asked == {"kim": 1}


async def test_the_older_review_is_the_default_of_the_flags(tmp_path: Path, decider: Decider) -> None:
    """v1beta1 calls groups `group` (access.md)."""
    decider.answers["old"] = {**YES, "apiVersion": "authorization.k8s.io/v1beta1"}
    path = await asyncio.to_thread(kubeconfig, tmp_path, decider.url)
    mode = Texts(("Webhook",))
    async with guarded(tmp_path, authorization_mode=mode, authorization_webhook_config_file=path) as server:
        assert await status(server, "old", Group="g") == 200
        assert decider.last["apiVersion"] == "authorization.k8s.io/v1beta1"
        assert decider.last["spec"]["group"] == ["g", "system:authenticated"]
        assert await status(server, "plain") == 500
        # Health is asked about in this mode.
        decider.answers["old"] = {"apiVersion": "authorization.k8s.io/v1beta1", "status": {"denied": True}}
        assert await status(server, "old", "/livez") == 403


async def reloads(server: Guarded, outcome: str, count: int) -> None:
    """Wait for a number of reloads."""
    for _ in range(600):
        _, text = await server.ask("admin", "GET", "/metrics")
        for line in text.splitlines():
            if "automatic_reloads_total{" in line and f'status="{outcome}"' in line and line.endswith(f" {count}"):
                return
        await asyncio.sleep(0.05)
    raise AssertionError(f"no {count} reloads with {outcome}")


async def test_a_changed_file_takes_effect_and_a_bad_one_does_not(tmp_path: Path, decider: Decider) -> None:
    """An open watch stays; the types of the start must stay in the file (kubeapiserver `reload.go`)."""
    rbac = {"type": "RBAC", "name": "rbac"}
    deny = {**REVIEW, "status": {"denied": True}}
    decider.answers["kim"] = deny
    async with serving(tmp_path, decider, rbac) as server, aiohttp.ClientSession() as session:
        await server.allow("kim", "lists", rule("list watch", "configmaps"), namespace="default")
        headers = {"Authorization": "Bearer admin-token", "Impersonate-User": "ann"}
        async with session.get(f"{server.server.url}{MAPS}?watch=1", headers=headers) as watch:
            assert watch.status == 200
            assert await status(server, "kim") == 403
            bad = 0
            for content in ("kind: [[[", "{}", json.dumps({"authorizers": []})):
                await asyncio.to_thread((tmp_path / "authorization.json").write_text, content)
                bad += 1
                await reloads(server, "failure", bad)
                assert await status(server, "kim") == 403
            for authorizers in ([{"type": "AlwaysAllow", "name": "alwaysallow"}, rbac], []):
                await asyncio.to_thread(written, tmp_path, authorizers)
                bad += 1
                await reloads(server, "failure", bad)
                assert await status(server, "kim") == 403
            await asyncio.to_thread(written, tmp_path, [rbac])
            await reloads(server, "success", 1)
            assert await status(server, "kim") == 200
            assert await status(server, "ann") == 403
            await server.make(MAPS, {"metadata": {"name": "seen"}})
            assert b'"seen"' in await watch.content.readline()
