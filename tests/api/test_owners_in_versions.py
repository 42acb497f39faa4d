"""Server-side apply compares owners in the versions that they wrote in (SSA-01; structured-merge-diff `update.go`)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest

from hydrofoil.storage.log import Log
from tests.api.conversion import NEW, Hook, hooked
from tests.api.custom import CRDS, THINGS, Object, call, definition, version
from tests.api.services import Certificate, certificate, listening, reaching

__all__ = ["certificate"]
APPLY = {"Content-Type": "application/apply-patch+yaml"}
SCALERS = "/apis/autoscaling/{}/namespaces/default/horizontalpodautoscalers/h"


async def applied(
    api: aiohttp.ClientSession, path: str, manager: str, content: Object, *, force: bool = False
) -> tuple[int, Any]:
    """Apply an object as a manager. Return status and answer."""
    query = f"?fieldManager={manager}" + ("&force=true" if force else "")
    return await call(api, "PATCH", path + query, content, **APPLY)


def thing(api_version: str, **spec: Any) -> Object:
    """Return a configuration."""
    return {"apiVersion": api_version, "kind": "Thing", "metadata": {"name": "x"}, "spec": spec}


def owners(found: Object) -> dict[str, Any]:
    """Return the fields of the spec by manager."""
    return {e["manager"]: e["fieldsV1"].get("f:spec") for e in found["metadata"]["managedFields"]}


@pytest.fixture
async def hook(certificate: Certificate) -> AsyncIterator[Hook]:
    """Yield a listening webhook."""
    found = Hook()
    async with listening(certificate, "/convert", found.handle) as found.port:
        yield found


@pytest.fixture
async def client(hook: Hook, certificate: Certificate, log: Log | None) -> AsyncIterator[aiohttp.ClientSession]:
    """Yield a client of a server whose things a webhook converts."""
    async with reaching(hook.port, log) as session:
        made = hooked(certificate, url=f"https://127.0.0.1:{hook.port}/convert")
        assert (await call(session, "POST", CRDS, made))[0] == 201
        yield session


@pytest.mark.program("openssl")
async def test_owners_behind_a_webhook_conflict_and_give_up(client: aiohttp.ClientSession) -> None:
    old, new = f"{THINGS}/x", f"{NEW}/x"
    assert (await applied(client, old, "one", thing("e.com/v1", hostPort="h:1")))[0] == 201
    other = thing("e.com/v2", host="g", port="1")
    status, refused = await applied(client, new, "two", other)
    assert (status, refused["message"]) == (409, 'Apply failed with 1 conflict: conflict with "one": .spec.hostPort')
    status, taken = await applied(client, new, "two", other, force=True)
    assert (status, owners(taken)) == (200, {"one": {}, "two": {".": {}, "f:host": {}, "f:port": {}}})
    merge = {"Content-Type": "application/merge-patch+json"}
    status, changed = await call(client, "PATCH", f"{old}?fieldManager=three", {"spec": {"hostPort": "g:2"}}, **merge)
    assert (status, owners(changed)) == (200, {"one": {}, "two": {".": {}, "f:host": {}}, "three": {"f:hostPort": {}}})


@pytest.mark.program("openssl")
async def test_a_failing_webhook_fails_the_apply(client: aiohttp.ClientSession, hook: Hook) -> None:
    await applied(client, f"{THINGS}/x", "one", thing("e.com/v1", hostPort="h:1"))
    await applied(client, f"{NEW}/x", "two", thing("e.com/v2", host="h", port="1"))
    hook.mode = "fail"
    status, refused = await applied(client, f"{THINGS}/x", "one", thing("e.com/v1", hostPort="h:2"))
    assert (status, refused["message"]) == (500, "conversion webhook for e.com/v1, Kind=Thing failed: no port here")


@pytest.mark.program("openssl")
async def test_a_number_beyond_floats_fails_its_conversion(client: aiohttp.ClientSession, hook: Hook) -> None:
    """Upstream names the object of a list, and none of a single one (`webhook_converter.go`)."""
    for name in ("x", "y"):
        made = thing("e.com/v1", hostPort="h:1") | {"metadata": {"name": name}}
        assert (await call(client, "POST", THINGS, made))[0] == 201
    hook.mode = "beyond"
    why = "json: cannot unmarshal number 1e309 into Go value of type float64"
    status, refused = await call(client, "GET", f"{NEW}/y")
    assert (status, refused["message"]) == (500, why)
    status, refused = await call(client, "GET", NEW)
    head = "conversion webhook for e.com/v1, Kind=Thing returned invalid converted object at index 1: "
    assert (status, refused["message"][-len(head + why) :]) == (status, head + why)
    assert (await call(client, "GET", THINGS))[0] == 200


async def test_a_field_that_another_version_lacks_cannot_be_applied(api: aiohttp.ClientSession) -> None:
    """Nothing converts it, and it is no part of the other version's schema."""
    typed = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"a": {"type": "string"}}}}}
    more = json.loads(json.dumps(typed))
    more["properties"]["spec"]["properties"]["b"] = {"type": "string"}
    versions = [version("v1", storage=True, schema=typed), version("v2", schema=more)]
    await call(api, "POST", CRDS, definition(*versions))
    assert (await applied(api, f"{THINGS}/x", "one", thing("e.com/v1", a="1")))[0] == 201
    lacking = ".spec.b: field not declared in schema"
    status, refused = await applied(api, f"{NEW}/x", "two", thing("e.com/v2", b="1"))
    assert (status, refused["message"]) == (500, f"failed to convert new object: {lacking}")
    assert (await applied(api, f"{THINGS}/x", "two", thing("e.com/v1", a="1")))[0] == 200
    status, refused = await applied(api, f"{NEW}/x", "two", thing("e.com/v2", b="1"))
    why = "failed to prune fields: failed to convert merged object to last applied version"
    assert (status, refused["message"]) == (500, f"{why}: {lacking}")


async def test_a_scaler_keeps_the_target_of_its_other_version(api: aiohttp.ClientSession) -> None:
    target = {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"}

    def scaler(name: str, **spec: Any) -> Object:
        spec = {"scaleTargetRef": target, "maxReplicas": 5, **spec}
        meta = {"name": "h"}
        return {"apiVersion": f"autoscaling/{name}", "kind": "HorizontalPodAutoscaler", "metadata": meta, "spec": spec}

    def metrics(share: int) -> list[Object]:
        resource = {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": share}}
        return [{"type": "Resource", "resource": resource}]

    old, new = SCALERS.format("v1"), SCALERS.format("v2")
    assert (await applied(api, old, "one", scaler("v1", targetCPUUtilizationPercentage=50)))[0] == 201
    assert (await applied(api, new, "two", scaler("v2", minReplicas=2)))[0] == 200
    status, kept = await applied(api, new, "two", scaler("v2"))
    assert (status, kept["spec"]["metrics"]) == (200, metrics(50))
    status, refused = await applied(api, new, "three", scaler("v2", metrics=metrics(60)))
    text = 'Apply failed with 1 conflict: conflict with "one": .spec.targetCPUUtilizationPercentage'
    assert (status, refused["message"]) == (409, text)
    status, taken = await applied(api, new, "three", scaler("v2", metrics=metrics(60)), force=True)
    assert (status, "f:targetCPUUtilizationPercentage" in owners(taken)["one"]) == (200, False)
