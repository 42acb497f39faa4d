"""Endpoints, budgets, quotas and autoscalers of workloads on simulated nodes."""

from __future__ import annotations

from typing import Any

from hydrofoil.testing.remote_server import RemoteServer
from tests.cluster.objects import deployment

Object = dict[str, Any]


def service(name: str, **spec: Any) -> Object:
    """Return a service for the pods of a deployment of its name."""
    spec = {"selector": {"app": name}, "ports": [{"port": 80}], **spec}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec}


def slices(server: RemoteServer, name: str) -> list[Object]:
    """Return the slices of a service; there is one of the API itself."""
    return server.list("endpointslices", label_selector=f"kubernetes.io/service-name={name}")


def ready(server: RemoteServer, name: str) -> list[str]:
    """Return the addresses of a service that are ready."""
    endpoints = [one for item in slices(server, name) for one in item["endpoints"] or ()]
    return sorted(one["addresses"][0] for one in endpoints if one["conditions"]["ready"])


def test_endpoints_follow_a_rollout(cluster: RemoteServer) -> None:
    cluster.apply(service("web"), deployment("web", 3, {"ready-after": "10s"}))
    assert ready(cluster, "web") == []
    cluster.clock.advance("10s")
    first = ready(cluster, "web")
    assert len(first) == 3 and first == sorted(
        one["ip"] for subset in cluster.get("endpoints/web")["subsets"] for one in subset["addresses"]
    )
    cluster.apply(deployment("web", 3, {"ready-after": "5s"}))
    cluster.clock.advance("1m")
    second = ready(cluster, "web")
    assert len(second) == 3 and not set(first) & set(second)


def test_many_pods_are_in_several_slices(cluster: RemoteServer) -> None:
    cluster.apply(service("web"), deployment("web", 150))
    sizes = [len(one["endpoints"]) for one in slices(cluster, "web")]
    assert sum(sizes) == len(set(ready(cluster, "web"))) == 150 and len(sizes) == 2 and max(sizes) <= 100
    cluster.delete("services/web")
    cluster.clock.advance(0)
    assert not slices(cluster, "web")
    assert "web" not in [one["metadata"]["name"] for one in cluster.list("endpoints")]


def test_a_budget_lets_one_pod_go_at_a_time(cluster: RemoteServer) -> None:
    spec = {"maxUnavailable": 1, "selector": {"matchLabels": {"app": "web"}}}
    budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "web"}, "spec": spec}
    cluster.apply(deployment("web", 3, {"ready-after": "10s"}), budget)
    cluster.clock.advance("10s")
    assert cluster.get("poddisruptionbudgets/web")["status"]["disruptionsAllowed"] == 1
    cluster.delete(f"pods/{cluster.list('pods')[0]['metadata']['name']}")
    cluster.clock.advance(0)
    status = cluster.get("poddisruptionbudgets/web")["status"]
    assert (status["disruptionsAllowed"], status["currentHealthy"], status["expectedPods"]) == (0, 2, 3)
    cluster.clock.advance("10s")
    assert cluster.get("poddisruptionbudgets/web")["status"]["disruptionsAllowed"] == 1


def test_a_quota_is_free_again_when_pods_go(cluster: RemoteServer) -> None:
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {"hard": {"pods": "2"}}}
    cluster.apply(quota)
    cluster.apply(deployment("web", 3))
    assert cluster.get("deployments/web")["status"]["readyReplicas"] == 2
    assert cluster.get("resourcequotas/q")["status"]["used"] == {"pods": "2"}
    cluster.patch("deployments/web", {"spec": {"replicas": 1}})
    cluster.clock.advance("1m")
    assert cluster.get("resourcequotas/q")["status"]["used"] == {"pods": "1"}


def test_an_autoscaler_owns_the_replicas_that_it_sets(cluster: RemoteServer) -> None:
    ref = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    spec = {"minReplicas": 1, "maxReplicas": 2, "scaleTargetRef": ref}
    autoscaler = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "web"},
        "spec": spec,
    }
    cluster.apply(deployment("web", 4), autoscaler)
    cluster.clock.advance("1m")
    found = cluster.get("deployments/web")
    assert found["status"]["readyReplicas"] == 2
    (owner,) = [one for one in found["metadata"]["managedFields"] if one.get("subresource") == "scale"]
    assert owner["manager"] == "kube-controller-manager" and owner["fieldsV1"] == {"f:spec": {"f:replicas": {}}}
