"""Admission plug-ins that are off by default, and their configuration."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from hydrofoil.admission.configuration import read
from hydrofoil.options import Texts
from hydrofoil.server.config import Config
from hydrofoil.server.run import Server
from tests.api.calls import get, post
from tests.api.hooks import MAPS, made

PODS = "/api/v1/namespaces/default/pods"


@asynccontextmanager
async def serving(*names: str, **config: Any) -> AsyncIterator[aiohttp.ClientSession]:
    """Run a server with some plug-ins on."""
    server = Server(Config(port=0, enable_admission_plugins=Texts(names), **config), None)
    await server.start()
    async with aiohttp.ClientSession(server.url, headers={"Content-Type": "application/json"}) as session:
        yield session
    await server.stop()


@pytest.fixture
def file(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the file of a configuration of one plug-in."""
    name, configuration = request.param
    plugins = [{"name": name, "configuration": configuration}]
    file = tmp_path / "admission.yaml"
    whole = {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AdmissionConfiguration", "plugins": plugins}
    file.write_text(json.dumps(whole))
    return str(file)


def pod(**spec: Any) -> dict[str, Any]:
    container = {"name": "c", "image": "i", **spec.pop("container", {})}
    return {"metadata": {"name": "p"}, "spec": {"containers": [container], **spec}}


async def test_always_deny() -> None:
    async with serving("AlwaysDeny") as api:
        refused = await post(api, MAPS, made("a"), 403)
        assert refused["message"].endswith("admission control is denying all modifications")


async def test_a_missing_namespace_is_made_or_refused() -> None:
    off = Texts(("NamespaceLifecycle",))
    maps = "/api/v1/namespaces/new/configmaps"
    async with serving("NamespaceExists", disable_admission_plugins=off) as api:
        await post(api, maps, made("a"), 404)
    async with serving("NamespaceAutoProvision", disable_admission_plugins=off) as api:
        await post(api, f"{maps}?dryRun=All", made("a"))
        async with api.get("/api/v1/namespaces/new") as answer:
            assert answer.status == 404
        await post(api, maps, made("a"))
        assert (await get(api, "/api/v1/namespaces/new"))["status"] == {"phase": "Active"}


async def test_images_are_always_pulled() -> None:
    async with serving("AlwaysPullImages") as api:
        created = await post(api, PODS, pod(container={"imagePullPolicy": "Never"}))
        assert created["spec"]["containers"][0]["imagePullPolicy"] == "Always"


async def test_anti_affinity_is_by_host_only() -> None:
    term = {"topologyKey": "zone", "labelSelector": {}}
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    async with serving("LimitPodHardAntiAffinityTopology") as api:
        await post(api, PODS, pod(affinity=affinity), 403)


async def test_external_addresses_are_refused() -> None:
    service = {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}], "externalIPs": ["192.0.2.7"]}}
    async with serving("DenyServiceExternalIPs") as api:
        await post(api, "/api/v1/namespaces/default/services", service, 403)


async def test_devices_are_tolerated() -> None:
    async with serving("ExtendedResourceToleration") as api:
        created = await post(api, PODS, pod(container={"resources": {"limits": {"e.com/gpu": "1"}}}))
        wanted = {"key": "e.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
        assert wanted in created["spec"]["tolerations"]


NODES = {"podNodeSelectorPluginConfig": {"clusterDefaultNodeSelector": "zone=a", "default": "zone=a"}}
TOLERATED = {"default": [{"key": "k", "operator": "Exists"}], "whitelist": [{"operator": "Exists", "key": "k"}]}
RATES = {"limits": [{"type": "Namespace", "qps": 1, "burst": 2}]}


@pytest.mark.parametrize("file", [("PodNodeSelector", NODES)], indirect=True)
async def test_nodes_of_a_namespace_are_configured(file: str) -> None:
    async with serving("PodNodeSelector", admission_control_config_file=file) as api:
        assert (await post(api, PODS, pod()))["spec"]["nodeSelector"] == {"zone": "a"}
        refused = await post(api, PODS, pod(nodeSelector={"zone": "b"}), 403)
        assert "conflicts with its namespace node label selector" in refused["message"]
        await post(api, PODS, pod(nodeSelector={"disk": "ssd"}), 403)


@pytest.mark.parametrize("file", [("PodTolerationRestriction", TOLERATED)], indirect=True)
async def test_tolerations_are_configured(file: str) -> None:
    off = Texts(("DefaultTolerationSeconds",))
    flags: dict[str, Any] = {"admission_control_config_file": file, "disable_admission_plugins": off}
    async with serving("PodTolerationRestriction", **flags) as api:
        assert (await post(api, PODS, pod()))["spec"]["tolerations"] == [{"key": "k", "operator": "Exists"}]
        await post(api, PODS, pod(tolerations=[{"key": "other", "operator": "Exists"}]), 500)


@pytest.mark.parametrize("file", [("EventRateLimit", RATES)], indirect=True)
async def test_the_rate_of_events_is_limited(file: str) -> None:
    events = "/api/v1/namespaces/default/events"
    async with serving("EventRateLimit", admission_control_config_file=file) as api:
        codes = []
        for n in range(4):
            event = {"metadata": {"name": f"e{n}"}, "involvedObject": {"kind": "Pod", "namespace": "default"}}
            async with api.post(events, json=event) as answer:
                codes.append(answer.status)
                text = await answer.text()
        assert codes[:2] == [201, 201]
        assert codes[-1] == 429
        assert "limit reached on type Namespace for key default" in text


async def test_a_bound_pod_has_the_zone_of_its_node() -> None:
    labels = {"topology.kubernetes.io/zone": "z", "other": "x"}
    async with serving() as api:
        await post(api, "/api/v1/nodes", {"metadata": {"name": "n", "labels": labels}})
        await post(api, PODS, pod())
        await post(api, f"{PODS}/p/binding", {"metadata": {"name": "p"}, "target": {"name": "n"}})
        assert (await get(api, f"{PODS}/p"))["metadata"]["labels"] == {"topology.kubernetes.io/zone": "z"}


async def test_admission_is_timed() -> None:
    async with serving() as api:
        await post(api, MAPS, made("a"))
        async with api.get("/metrics") as answer:
            text = await answer.text()
    labels = 'operation="CREATE",rejected="false",type="validate"'
    assert f"apiserver_admission_step_admission_duration_seconds_count{{{labels}}}" in text
    assert 'controller_admission_duration_seconds_count{name="NamespaceLifecycle",operation="CREATE"' in text


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[]", "is not an object"),
        ("kind: Other", "no kind"),
        ("{kind: AdmissionConfiguration, apiVersion: apiserver.config.k8s.io/v1, more: 1}", 'unknown field "more"'),
        (
            "{kind: AdmissionConfiguration, apiVersion: apiserver.config.k8s.io/v1, plugins: [{name: None}]}",
            'admission plugin "None" is unknown',
        ),
        (
            "{kind: AdmissionConfiguration, apiVersion: apiserver.config.k8s.io/v1, plugins: [{name: Priority, x: 1}]}",
            'unknown field "plugins[0].x"',
        ),
        ("a: [", "unable to read admission control configuration"),
    ],
)
def test_a_broken_configuration_is_one_line(tmp_path: Path, text: str, why: str) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(text)
    with pytest.raises(ValueError, match=r".") as raised:
        read(str(file))
    assert why in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_file_of_a_plug_in_is_beside_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "limits.yaml").write_text("limits: [{type: Server, qps: 1, burst: 1}]")
    file = tmp_path / "a.yaml"
    plugins = "[{name: EventRateLimit, path: limits.yaml}]"
    file.write_text(f"{{kind: AdmissionConfiguration, apiVersion: apiserver.config.k8s.io/v1, plugins: {plugins}}}")
    assert read(str(file))["EventRateLimit"]["limits"][0]["type"] == "Server"
