"""Audit records of live requests, and attacks on them."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from hydrofoil.endpoints.handlers import get as get_handler
from tests.api.audit import METADATA, audited, written
from tests.api.rights import Guarded, guarded
from tests.unit.audit.receivers import Receiver, receiver

__all__ = ["receiver"]
MAPS = "/api/v1/namespaces/default/configmaps"


async def test_all_forms_of_an_answer_are_recorded_as_json(tmp_path: Path) -> None:
    async with audited(tmp_path) as a:
        made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"k": "v"}}
        assert (await a.ask("POST", MAPS, made))[0] == 201
        protobuf = "application/vnd.kubernetes.protobuf"
        for accept in ("application/json", "application/yaml", protobuf):
            for path in (f"{MAPS}/c", MAPS):
                assert (await a.ask("GET", path, Accept=accept, Audit_ID=accept[-9:] + path[-4:]))[0] == 200
        assert (await a.ask("GET", "/apis", Audit_ID="groups"))[0] == 200
        found = {e["auditID"]: e for e in await a.events()}
        for accept in ("application/json", "application/yaml", protobuf):
            assert found[accept[-9:] + "ps/c"]["responseObject"]["data"] == {"k": "v"}
            items = found[accept[-9:] + "maps"]["responseObject"]["items"]
            assert [item["metadata"]["name"] for item in items][:1] == ["c"]
        assert found["groups"]["responseObject"]["kind"] == "APIGroupList"


async def test_a_large_list_is_recorded_whole(tmp_path: Path) -> None:
    async with audited(tmp_path) as a:
        for n in range(6):
            made = {"metadata": {"name": f"c{n}"}, "data": {"k": "x" * 100_000}}
            assert (await a.ask("POST", MAPS, made))[0] == 201
        status, body = await a.ask("GET", MAPS, Audit_ID="list")
        found = next(e for e in await a.events() if e["auditID"] == "list")
        assert status == 200 and found["responseObject"] == json.loads(body)


async def test_pod_security_records_what_it_applied(tmp_path: Path) -> None:
    """Pods show the enforced standard, templates do not (pod-security-admission `admission/admission.go`)."""
    prefix, spec = "pod-security.kubernetes.io/", {"hostPID": True, "containers": [{"name": "c", "image": "i"}]}
    spaces = {
        "none": {},
        "audit": {"audit": "baseline"},
        "both": {"audit": "baseline", "enforce": "baseline", "enforce-version": "v1.30"},
    }
    pod = {"metadata": {"name": "p"}, "spec": spec}
    template = {"metadata": {"name": "t"}, "template": {"metadata": {"labels": {"a": "b"}}, "spec": spec}}
    async with audited(tmp_path, METADATA, disable_admission_plugins=("ServiceAccount",)) as a:
        for name, levels in spaces.items():
            labels = {prefix + mode: level for mode, level in levels.items()}
            made = {"metadata": {"name": name, "labels": labels}}
            assert (await a.ask("POST", "/api/v1/namespaces", made))[0] == 201
            at = f"/api/v1/namespaces/{name}"
            status, _ = await a.ask("POST", f"{at}/pods", pod, Audit_ID=f"{name} pod")
            assert status == (403 if name == "both" else 201)
            assert (await a.ask("POST", f"{at}/podtemplates", template, Audit_ID=f"{name} template"))[0] == 201
        # A write of the status is not checked, so labels can be wrong.
        wrong = {"metadata": {"name": "none", "labels": {prefix + "enforce": "x", prefix + "warn-version": "v1"}}}
        assert (await a.ask("PUT", "/api/v1/namespaces/none/status", wrong))[0] == 200
        at = "/api/v1/namespaces/none/pods"
        assert (await a.ask("POST", at, pod, Audit_ID="wrong pod"))[0] == 403
        found = {}
        for event in await a.events():
            said = event.get("annotations", {}).items()
            found[event["auditID"]] = {k.removeprefix(prefix): v for k, v in said if k.startswith(prefix)}
    violated = {"audit-violations": 'would violate PodSecurity "baseline:latest": host namespaces (hostPID=true)'}
    assert found["none pod"] == {"enforce-policy": "privileged:latest"}
    assert found["audit pod"] == {"enforce-policy": "privileged:latest"} | violated
    assert found["both pod"] == {"enforce-policy": "baseline:v1.30"} | violated
    assert found["none template"] == {}
    assert found["wrong pod"] == {
        "enforce-policy": "restricted:latest",
        "error": "Failed to parse policy: ["
        f'metadata.labels[{prefix}enforce]: Invalid value: "x": must be one of privileged, baseline, restricted, '
        f'metadata.labels[{prefix}warn-version]: Invalid value: "v1": must be "latest" or "v1.x"]',
    }
    assert found["audit template"] == found["both template"] == violated


async def test_a_validating_webhook_that_fails_is_counted_among_those_called(tmp_path: Path) -> None:
    """The index is that among the webhooks called (apiserver `validating/dispatcher.go`)."""
    dead: Any = {"admissionReviewVersions": ["v1"], "sideEffects": "None", "failurePolicy": "Ignore"}
    dead |= {"clientConfig": {"url": "https://127.0.0.1:1/"}}
    dead["rules"] = [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["CREATE"]}]
    other = {"name": "other.example.com", "objectSelector": {"matchLabels": {"never": "1"}}}
    hooks = [dead | other, dead | {"name": "a.example.com"}, dead | other, dead | {"name": "b.example.com"}]
    for at, hook in enumerate(hooks):
        hook["name"] = f"h{at}.{hook['name']}"
    path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
    async with audited(tmp_path, METADATA) as a:
        assert (await a.ask("POST", path, {"metadata": {"name": "dead"}, "webhooks": hooks}))[0] == 201
        assert (await a.ask("POST", MAPS, {"metadata": {"name": "c"}}, Audit_ID="map"))[0] == 201
        event = next(e for e in await a.events() if e["auditID"] == "map")
    key = "failed-open.validating.webhook.admission.k8s.io/round_0_index_"
    said = {k.removeprefix(key): v for k, v in event["annotations"].items() if k.startswith(key)}
    assert said == {"0": "h1.a.example.com", "1": "h3.b.example.com"}


async def test_watches_have_a_start_and_an_end(tmp_path: Path) -> None:
    async with audited(tmp_path, METADATA, {"omitStages": []}) as a:
        assert (await a.ask("GET", f"{MAPS}?watch=1&timeoutSeconds=1", Audit_ID="w"))[0] == 200
        stages = [e["stage"] for e in await a.events() if e["auditID"] == "w"]
        assert stages == ["RequestReceived", "ResponseStarted", "ResponseComplete"]


async def test_a_fault_is_a_panic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(_: Any) -> None:
        raise RuntimeError("the secret of the fault")

    async with audited(tmp_path) as a:
        monkeypatch.setattr(get_handler, "caught_up", fail)
        assert (await a.ask("GET", f"{MAPS}/c", Audit_ID="f"))[0] == 500
        monkeypatch.undo()
        [found] = [e for e in await a.events() if e["auditID"] == "f"]
        assert found["stage"] == "Panic" and found["responseStatus"]["reason"] == "InternalError"
        assert "secret of" not in json.dumps(found)


async def test_a_client_that_leaves_is_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arrived, gone = asyncio.Event(), asyncio.Event()

    async def wait(_: Any) -> None:
        arrived.set()
        try:
            await asyncio.Event().wait()
        finally:
            gone.set()

    async with audited(tmp_path, METADATA) as a:
        monkeypatch.setattr(get_handler, "caught_up", wait)
        call = asyncio.create_task(a.ask("GET", f"{MAPS}/c", Audit_ID="left"))
        await arrived.wait()
        call.cancel()
        await gone.wait()
        [found] = [e for e in await a.events() if e["auditID"] == "left"]
        assert found["responseStatus"]["message"] == "Connection closed early"


async def test_failed_logins_and_impersonation_are_recorded(tmp_path: Path) -> None:
    policy = await asyncio.to_thread(written, tmp_path, METADATA)
    log = tmp_path / "audit.log"
    async with guarded(tmp_path, audit_policy_file=policy, audit_log_path=str(log)) as server:
        await ask_as_others(server)
        await server.server.stop()
    lines = (await asyncio.to_thread(log.read_text)).splitlines()
    found = {e["auditID"]: e for e in map(json.loads, lines) if e["stage"] != "RequestReceived"}
    assert found["bad"]["user"] == {} and found["bad"]["stage"] == "ResponseStarted"
    assert found["bad"]["responseStatus"]["code"] == 401
    assert found["ada"]["user"]["username"] == "ada"
    assert found["ada"]["annotations"]["authorization.k8s.io/decision"] == "forbid"
    assert found["as"]["user"]["username"] == "admin" and found["as"]["impersonatedUser"]["username"] == "zoe"
    assert not any("token" in line for line in lines if '"/api/v1/' in line)


async def ask_as_others(server: Guarded) -> None:
    assert (await server.ask("nobody", "GET", MAPS, headers={"Audit-ID": "bad"}))[0] == 401
    assert (await server.ask("ada", "GET", MAPS, headers={"Audit-ID": "ada"}))[0] == 403
    headers = {"Audit-ID": "as", "Impersonate-User": "zoe"}
    assert (await server.ask("admin", "GET", MAPS, headers=headers))[0] == 403


async def test_control_characters_stay_in_one_line(tmp_path: Path) -> None:
    """Attack: everything in a request that a client chooses has line breaks and quotes."""
    ill = '\x85\u2028\u2029\x7f"},{\\'
    raw = "%0A%0D%1B%22,%22level%22:%22None"
    async with audited(tmp_path) as a:
        made = {"metadata": {"name": "c", "annotations": {"a": ill}}, "data": {"k": ill}}
        assert (await a.ask("POST", MAPS, made))[0] == 201
        assert (await a.ask("GET", f"{MAPS}/{raw}?x={raw}", User_Agent='"},{"', Audit_ID='x"},{'))[0] in (400, 404)
        assert (await a.ask("GET", f"/{raw}"))[0] == 404
        assert (
            await a.ask("PATCH", f"{MAPS}/c", b'{\n"data":\n{"k":\n"w"}}', Content_Type="application/merge-patch+json")
        )[0] == 200
        found = await a.events()
        assert len(found) == 4 and found[0]["requestObject"]["data"] == {"k": ill}
        assert found[3]["requestObject"] == {"data": {"k": "w"}}


async def test_a_full_disk_answers_as_before(tmp_path: Path) -> None:
    """Attack: the disk of the log is full."""
    async with audited(tmp_path, METADATA, {}, audit_log_path="/dev/full") as a:
        for _ in range(3):
            assert (await a.ask("GET", MAPS))[0] == 200
        await a.server.stop()
        assert a.lost() == {"log": 6}


async def test_a_full_disk_refuses_requests_where_it_is_asked_for(tmp_path: Path) -> None:
    flags = {"audit_log_path": "/dev/full", "audit_log_mode": "blocking-strict"}
    async with audited(tmp_path, METADATA, {}, **flags) as a:
        status, body = await a.ask("GET", MAPS)
        assert status == 500 and body == f'Internal Server Error: "{MAPS}": failed to store audit event\n'.encode()
        counts = a.server.app.audit.counts
        assert counts.rejected == 1 and counts.lost == {"log": 1}


async def test_a_disk_that_hangs_keeps_no_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Attack: the log is a pipe that is never read; others are answered, and the server stops."""
    from hydrofoil.audit import log

    monkeypatch.setattr(log, "LEAVE_SECONDS", 0.05)
    read, write = os.pipe()
    async with audited(tmp_path, audit_log_path=f"/proc/self/fd/{write}") as a:
        made = {"metadata": {"generateName": "c-"}, "data": {"k": "x" * 100_000}}
        for _ in range(4):
            assert (await a.ask("POST", MAPS, made))[0] == 201
        assert (await a.ask("GET", MAPS))[0] == 200
        await a.server.stop()
    os.close(read)
    os.close(write)


def kubeconfig(folder: Path, url: str) -> str:
    path = folder / "webhook.kubeconfig"
    config = {
        "clusters": [{"name": "c", "cluster": {"server": url}}],
        "contexts": [{"name": "x", "context": {"cluster": "c"}}],
        "current-context": "x",
    }
    path.write_text(json.dumps(config))
    return str(path)


@pytest.mark.parametrize("mode", ["batch", "blocking", "blocking-strict"])
async def test_a_dead_webhook_keeps_no_request(tmp_path: Path, mode: str) -> None:
    """Attack: nothing listens at the webhook."""
    path = await asyncio.to_thread(kubeconfig, tmp_path, "http://127.0.0.1:1/audit")
    flags = {"audit_webhook_config_file": path, "audit_webhook_mode": mode}
    async with audited(tmp_path, METADATA, {}, **flags) as a:
        expected = 500 if mode == "blocking-strict" else 200
        for _ in range(3):
            assert (await a.ask("GET", MAPS))[0] == expected
        await a.server.stop()
        assert a.lost() == {"webhook": 3 if mode == "blocking-strict" else 6}


async def test_a_slow_webhook_keeps_no_request(
    tmp_path: Path, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Attack: the webhook never answers."""
    from hydrofoil.audit import webhook
    from hydrofoil.endpoints.filters import audit

    monkeypatch.setattr(webhook, "LEAVE_SECONDS", 0.05)
    monkeypatch.setattr(audit, "PATIENCE", 0.05)
    receiver.held = asyncio.Event()
    path = await asyncio.to_thread(kubeconfig, tmp_path, receiver.url)
    flags = {"audit_webhook_config_file": path, "audit_webhook_mode": "blocking"}
    async with audited(tmp_path, METADATA, **flags) as a:
        assert (await a.ask("GET", MAPS))[0] == 200
        await a.server.stop()
    receiver.held.set()


async def test_blocking_answers_follow_their_records(tmp_path: Path, receiver: Receiver) -> None:
    path = await asyncio.to_thread(kubeconfig, tmp_path, receiver.url)
    flags = {"audit_webhook_config_file": path, "audit_webhook_mode": "blocking"}
    async with audited(tmp_path, METADATA, {}, **flags) as a:
        for count in (1, 2):
            assert (await a.ask("GET", MAPS))[0] == 200
            assert len(receiver.ids) == 2 * count
        assert (await a.ask("GET", f"{MAPS}?watch=1&timeoutSeconds=1"))[0] == 200
        await a.server.stop()
        assert len(receiver.ids) == 7


async def test_the_older_form_is_text(tmp_path: Path) -> None:
    async with audited(tmp_path, audit_log_format="legacy") as a:
        await a.ask("GET", MAPS)
        await a.server.stop()
        text = await asyncio.to_thread(a.log.read_text)
        assert text.count("\n") == 1 and f'uri="{MAPS}" response="200"' in text
