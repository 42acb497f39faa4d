"""Pods that are resized on their node, and the classes of their priority."""

from __future__ import annotations

from typing import Any

import aiohttp

from tests.api.calls import get, post

PODS = "/api/v1/namespaces/default/pods"
CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"
MERGE = {"Content-Type": "application/merge-patch+json"}
STRATEGIC = {"Content-Type": "application/strategic-merge-patch+json"}


async def node(api: aiohttp.ClientSession, name: str, system: str = "linux", **status: Any) -> None:
    """Make a node that can allocate two CPUs and a gibibyte."""
    await post(api, "/api/v1/nodes", {"metadata": {"name": name, "labels": {"kubernetes.io/os": system}}})
    value = {"status": {"allocatable": {"cpu": "2", "memory": "1Gi"}, **status}}
    async with api.patch(f"/api/v1/nodes/{name}/status", json=value, headers=MERGE) as r:
        assert r.status == 200, await r.text()


async def on_node(api: aiohttp.ClientSession, name: str, of: str, **more: Any) -> None:
    """Make a pod on a node."""
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1", "memory": "1Mi"}}}
    await post(api, PODS, {"metadata": {"name": name}, "spec": {"nodeName": of, "containers": [container], **more}})


async def resize(api: aiohttp.ClientSession, name: str, spec: Any, code: int = 200) -> dict[str, Any]:
    async with api.patch(f"{PODS}/{name}/resize", json={"spec": spec}, headers=STRATEGIC) as r:
        answer: dict[str, Any] = await r.json()
        assert r.status == code, answer["message"]
        return answer


def requests(member: str = "containers", container: str = "c", **amounts: str) -> dict[str, Any]:
    return {member: [{"name": container, "resources": {"requests": amounts}}]}


async def test_a_resized_pod_fits_its_node(api: aiohttp.ClientSession) -> None:
    """`plugin/pkg/admission/podresize`."""
    await node(api, "n")
    await on_node(api, "a", "n")
    assert (await resize(api, "a", requests(cpu="1500m")))["spec"]["containers"][0]["resources"]["requests"]["cpu"]
    refused = await resize(api, "a", requests(cpu="2500m", memory="2Gi"), 403)
    why = "node didn't have enough allocatable resources: "
    why += "cpu, requested: 2500, allocatable: 2000; memory, requested: 2147483648, allocatable: 1073741824"
    assert refused["message"] == f'pods "a" is forbidden: {why}'
    assert refused["details"]["causes"] == [{"reason": "NodeCapacity"}]


async def test_pods_are_resized_on_nodes_that_exist_and_run_linux(api: aiohttp.ClientSession) -> None:
    await on_node(api, "a", "absent")
    assert (await resize(api, "a", requests(cpu="2"), 403))["message"] == (
        'pods "a" is forbidden: node "absent" not found'
    )
    await resize(api, "a", requests(cpu="1"))  # Nothing changes.
    await node(api, "w", "windows")
    await on_node(api, "b", "w")
    refused = await resize(api, "b", requests(cpu="2"), 403)
    why = 'pod resize is only supported on linux nodes, node "w" is "windows"'
    assert refused["message"] == f'pods "b" is forbidden: {why}'
    assert refused["details"]["causes"] == [{"reason": "UnsupportedPlatform"}]


async def test_a_change_needs_features_that_the_node_declares(api: aiohttp.ClientSession) -> None:
    """`plugin/pkg/admission/nodedeclaredfeatures`."""
    features = ["InPlacePodLevelResourcesVerticalScaling", "InPlacePodVerticalScalingInitContainers"]
    await node(api, "old")
    await node(api, "new", declaredFeatures=features)
    init = {"name": "i", "image": "i", "resources": {"requests": {"cpu": "1"}}}
    whole = {"requests": {"cpu": "1", "memory": "1Mi"}}
    for name, of in (("a", "old"), ("b", "new")):
        await on_node(api, name, of, initContainers=[init], resources=whole)
    change = requests("initContainers", "i", cpu="500m") | {"resources": {"requests": {"cpu": "1500m"}}}
    refused = await resize(api, "a", change, 403)
    why = f'pod update requires features {", ".join(features)} which are not available on node "old"'
    assert refused["message"] == f'pods "a" is forbidden: {why}'
    await resize(api, "b", change)


async def test_a_resize_keeps_all_but_cpu_and_memory(api: aiohttp.ClientSession) -> None:
    """`ValidatePodResize`."""
    await node(api, "n", declaredFeatures=["InPlacePodVerticalScalingInitContainers"])
    init = {"name": "i", "image": "i", "resources": {"requests": {"cpu": "1"}}}
    await on_node(api, "a", "n", initContainers=[init])
    resized = await resize(api, "a", requests("initContainers", "i", cpu="500m"))
    assert resized["spec"]["initContainers"][0]["resources"]["requests"] == {"cpu": "500m"}
    other = {"containers": [{"name": "c", "resizePolicy": [{"resourceName": "cpu", "restartPolicy": "NotRequired"}]}]}
    for change, cause in (
        (requests("initContainers", "i", **{"ephemeral-storage": "1Gi"}), "for init or sidecar containers are mutable"),
        (other, "spec: Forbidden: only cpu and memory resources are mutable"),
        ({"containers": [{"name": "c", "resources": {"requests": {"cpu": None}}}]}, "requests cannot be removed"),
        ({"resources": {"requests": {"cpu": "10m"}}}, "aggregate container requests"),
    ):
        assert cause in (await resize(api, "a", change, 422))["message"]
    container = {"name": "c", "image": "i", "imageID": "", "ready": True, "restartCount": 0}
    running = {"containerStatuses": [{**container, "state": {"running": {}}}]}
    async with api.patch(f"{PODS}/a/status", json={"status": running}, headers=MERGE) as r:
        assert r.status == 200
    refused = await resize(api, "a", requests(cpu="500m"), 422)
    assert refused["message"].endswith("spec: Forbidden: Pod running on node without support for resize")


async def test_some_pods_are_never_resized(api: aiohttp.ClientSession) -> None:
    """The field of these causes has no name."""
    await on_node(api, "w", "", os={"name": "windows"})
    refused = await resize(api, "w", requests(cpu="500m"), 422)
    assert refused["message"] == 'Pod "w" is invalid: []: Forbidden: windows pods cannot be resized'


async def test_empty_resources_of_a_pod_decide_its_class(api: aiohttp.ClientSession) -> None:
    """`ComputePodQOS`."""
    await on_node(api, "a", "", resources={})
    assert (await get(api, f"{PODS}/a"))["status"]["qosClass"] == "BestEffort"


async def test_classes_of_the_system_stay(api: aiohttp.ClientSession) -> None:
    """`pkg/registry/scheduling/priorityclass/storage`."""
    for name in ("system-node-critical", "system-cluster-critical"):
        async with api.delete(f"{CLASSES}/{name}") as r:
            assert r.status == 403
            why = "this is a system priority class and cannot be deleted"
            message = (await r.json())["message"]
            assert message == f'priorityclasses.scheduling.k8s.io "{name}" is forbidden: {why}'
    assert len((await get(api, CLASSES))["items"]) == 2


async def test_one_class_is_the_default(api: aiohttp.ClientSession) -> None:
    """`plugin/pkg/admission/priority`."""
    first = await post(api, CLASSES, {"metadata": {"name": "a"}, "value": 1, "globalDefault": True})
    refused = await post(api, CLASSES, {"metadata": {"name": "b"}, "value": 1, "globalDefault": True}, 403)
    why = "PriorityClass a is already marked as default. Only one default can exist"
    assert refused["message"] == f'priorityclasses.scheduling.k8s.io "b" is forbidden: {why}'
    await post(api, CLASSES, {"metadata": {"name": "b"}, "value": 1})
    async with api.patch(f"{CLASSES}/b", json={"globalDefault": True}, headers=MERGE) as r:
        assert r.status == 403
    async with api.patch(f"{CLASSES}/a", json={"description": "d"}, headers=MERGE) as r:
        assert r.status == 200
        assert (await r.json())["globalDefault"] is first["globalDefault"]
