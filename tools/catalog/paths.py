"""Paths that the root document lists although no resource has them."""

from __future__ import annotations

from .model import Json

OTHER = (
    "/.well-known/openid-configuration",
    "/flagz",
    "/metrics",
    "/metrics/slis",
    "/openapi/v2",
    "/openapi/v3",
    "/openapi/v3/",
    "/openid/v1/jwks",
    "/statusz",
    "/version",
)

# Names and order of the checks, as a default reference server runs them.
HOOKS = (
    "start-apiserver-admission-initializer",
    "generic-apiserver-start-informers",
    "priority-and-fairness-config-consumer",
    "priority-and-fairness-filter",
    "storage-object-count-tracker-hook",
    "start-apiextensions-informers",
    "start-apiextensions-controllers",
    "crd-informer-synced",
    "start-system-namespaces-controller",
    "peer-endpoint-reconciler-controller",
    "start-cluster-authentication-info-controller",
    "start-kube-apiserver-identity-lease-controller",
    "start-kube-apiserver-identity-lease-garbage-collector",
    "storage-readiness",
    "start-legacy-token-tracking-controller",
    "start-service-ip-repair-controllers",
    "rbac/bootstrap-roles",
    "scheduling/bootstrap-system-priority-classes",
    "priority-and-fairness-config-producer",
    "bootstrap-controller",
    "start-kubernetes-service-cidr-controller",
    "start-kube-aggregator-informers",
    "apiservice-status-local-available-controller",
    "apiservice-status-remote-available-controller",
    "apiservice-registration-controller",
    "apiservice-discovery-controller",
    "kube-apiserver-autoregistration",
    "autoregister-completion",
    "apiservice-openapi-controller",
    "apiservice-openapiv3-controller",
)
# The one check among the hooks that is no hook itself.
PLAIN = {"autoregister-completion"}


def checks() -> dict[str, list[str]]:
    """Health endpoint -> names of its checks, in the order of its verbose answer."""
    hooks = [name if name in PLAIN else f"poststarthook/{name}" for name in HOOKS]
    live = ["ping", "log", "loopback-serving-certificate", "etcd", *hooks]
    ready = ["ping", "log", "etcd", "etcd-readiness", "informer-sync", *hooks, "shutdown"]
    return {"healthz": live, "livez": live, "readyz": ready}


def root_paths(resources: list[Json], health: dict[str, list[str]]) -> list[str]:
    """Return the sorted paths of `/` for a server that has the given resources and checks."""
    paths = {*OTHER, "/api", "/apis", "/apis/"}
    for endpoint, names in health.items():
        paths.add(f"/{endpoint}")
        paths.update(f"/{endpoint}/{name}" for name in names)
    for resource in resources:
        if not resource.get("served"):
            continue
        if group := resource["group"]:
            paths.update((f"/apis/{group}", f"/apis/{group}/{resource['version']}"))
        else:
            paths.add(f"/api/{resource['version']}")
    return sorted(paths)
