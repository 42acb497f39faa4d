"""Evictions as kubectl drain and controllers meet them (upstream's `core/pod/storage/eviction.go`; URI-17)."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest

from tests.api.calls import get, post

CORE = "/api/v1/namespaces/default"
BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
MERGE = {"Content-Type": "application/merge-patch+json"}
READY = [{"type": "Ready", "status": "True"}]


async def running(api: aiohttp.ClientSession, name: str, conditions: list[dict[str, str]]) -> None:
    """Create a running pod on a node, with these conditions."""
    spec = {"containers": [{"name": "c", "image": "i"}], "nodeName": "n"}
    await post(api, f"{CORE}/pods", {"metadata": {"name": name, "labels": {"app": name}}, "spec": spec})
    await patch(api, f"{CORE}/pods/{name}/status", {"status": {"phase": "Running", "conditions": conditions}})


async def guarded(api: aiohttp.ClientSession, name: str, status: dict[str, Any], **spec: Any) -> None:
    """Create a budget of the pods with this name, whose status is up to date."""
    selector = {"matchLabels": {"app": name}}
    await post(api, BUDGETS, {"metadata": {"name": name}, "spec": {"selector": selector, "minAvailable": 1, **spec}})
    counted = {"observedGeneration": 1, "expectedPods": 1, "currentHealthy": 0, "desiredHealthy": 0}
    await patch(api, f"{BUDGETS}/{name}/status", {"status": {**counted, "disruptionsAllowed": 0, **status}})


async def patch(api: aiohttp.ClientSession, path: str, body: dict[str, Any]) -> None:
    async with api.patch(path, json=body, headers=MERGE) as r:
        assert r.status == 200, await r.text()


async def evict(api: aiohttp.ClientSession, name: str, **options: Any) -> tuple[int, dict[str, Any]]:
    """Return the answer to an eviction of a pod."""
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}, "deleteOptions": options}
    async with api.post(f"{CORE}/pods/{name}/eviction", json=body) as r:
        return r.status, await r.json()


async def test_an_evicted_pod_states_why_it_ends(api: aiohttp.ClientSession) -> None:
    await running(api, "why", READY)
    assert (await evict(api, "why", dryRun=["All"]))[0] == 201
    assert len((await get(api, f"{CORE}/pods/why"))["status"]["conditions"]) == 1
    assert (await evict(api, "why"))[0] == 201
    pod = await get(api, f"{CORE}/pods/why")
    assert pod["metadata"]["deletionTimestamp"]
    last = pod["status"]["conditions"][-1]
    assert last.pop("lastTransitionTime")
    assert last == {
        "type": "DisruptionTarget",
        "status": "True",
        "lastProbeTime": None,
        "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting",
    }


async def test_the_last_disruption_is_stated_in_the_budget(api: aiohttp.ClientSession) -> None:
    await running(api, "last", READY)
    await guarded(api, "last", {"disruptionsAllowed": 1, "currentHealthy": 2, "desiredHealthy": 1})
    assert (await evict(api, "last"))[0] == 201
    budget = await get(api, f"{BUDGETS}/last")
    (stated,) = budget["status"]["conditions"]
    assert (stated["type"], stated["status"], stated["reason"]) == ("DisruptionAllowed", "False", "InsufficientPods")
    assert "last" in budget["status"]["disruptedPods"]
    assert "kube-apiserver" in {entry["manager"] for entry in budget["metadata"]["managedFields"]}


@pytest.mark.parametrize(
    ("status", "spec", "code"),
    [
        ({"currentHealthy": 1, "desiredHealthy": 1}, {}, 201),
        ({"currentHealthy": 0, "desiredHealthy": 1}, {}, 429),
        ({"currentHealthy": 0, "desiredHealthy": 0}, {}, 429),
        ({"currentHealthy": 0, "desiredHealthy": 1}, {"unhealthyPodEvictionPolicy": "AlwaysAllow"}, 201),
    ],
)
async def test_an_unhealthy_pod_does_not_count(
    api: aiohttp.ClientSession, status: dict[str, int], spec: dict[str, str], code: int
) -> None:
    """A budget without disruptions releases a pod that is not ready, if others are or its policy allows it."""
    name = f"sick-{status['currentHealthy']}{status['desiredHealthy']}{len(spec)}"
    await running(api, name, [{"type": "Ready", "status": "False"}])
    await guarded(api, name, status, **spec)
    assert (await evict(api, name))[0] == code
    assert (await get(api, f"{BUDGETS}/{name}"))["status"].get("disruptedPods") is None


@pytest.mark.parametrize(
    ("name", "status", "message"),
    [
        (
            "few",
            {"currentHealthy": 1, "desiredHealthy": 1},
            "The disruption budget few needs 1 healthy pods and has 1 currently",
        ),
        (
            "many",
            {"currentHealthy": 2, "desiredHealthy": 1},
            "The disruption budget many does not allow evicting pods currently",
        ),
        (
            "failed",
            {"conditions": [{"type": "DisruptionAllowed", "status": "False", "reason": "SyncFailed", "message": "m",
                             "lastTransitionTime": "2020-01-01T00:00:00Z"}]},
            "The disruption budget failed does not allow evicting pods currently because it failed sync: m",
        ),
        (
            "stated",
            {"currentHealthy": 2, "desiredHealthy": 1,
             "conditions": [{"type": "DisruptionAllowed", "status": "False", "reason": "R", "message": "m",
                             "lastTransitionTime": "2020-01-01T00:00:00Z"}]},
            "The disruption budget stated does not allow evicting pods currently (R): m",
        ),
    ],
)  # fmt: skip
async def test_a_refusal_states_the_reason(
    api: aiohttp.ClientSession, name: str, status: dict[str, Any], message: str
) -> None:
    await running(api, name, READY)
    await guarded(api, name, status)
    code, answer = await evict(api, name)
    assert code == 429
    assert answer["details"]["causes"] == [{"reason": "DisruptionBudget", "message": message}]


async def test_an_eviction_reads_what_it_removes(api: aiohttp.ClientSession) -> None:
    await running(api, "read", READY)
    code, answer = await evict(api, "read", ignoreStoreReadErrorWithClusterBreakingPotential=True)
    assert code == 422
    assert answer["message"] == (
        'Eviction.policy "read" is invalid: deleteOptions.ignoreStoreReadErrorWithClusterBreakingPotential: '
        "Invalid value: true: can not be set for pod eviction, try after removing the option"
    )


async def test_preconditions_hold_for_the_mark_as_well(api: aiohttp.ClientSession) -> None:
    await running(api, "precise", READY)
    code, answer = await evict(api, "precise", preconditions={"uid": "other"})
    assert (code, answer["reason"]) == (409, "Conflict")
    version = (await get(api, f"{CORE}/pods/precise"))["metadata"]["resourceVersion"]
    assert (await evict(api, "precise", preconditions={"resourceVersion": version}))[0] == 201
