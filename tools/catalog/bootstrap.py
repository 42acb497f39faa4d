"""Objects that exist right after the start of a default server: `bootstrap.json`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from .managed import Owner, managed_entry
from .model import Json
from .priorities import AGGREGATOR, Priorities
from .reach import type_of_kind

HERE = Path(__file__).parent / "bootstrap"
TESTDATA = "plugin/pkg/auth/authorizer/rbac/bootstrappolicy/testdata"
RBAC_FILES = {
    "clusterrolebindings": ("cluster-role-bindings.yaml", "controller-role-bindings.yaml"),
    "clusterroles": ("cluster-roles.yaml", "controller-roles.yaml"),
    "rolebindings": ("namespace-role-bindings.yaml",),
    "roles": ("namespace-roles.yaml",),
}
SERVER = "kube-apiserver"
FLOW_CONTROL = "/apis/flowcontrol.apiserver.k8s.io/v1"
FLOW_PRODUCER = "api-priority-and-fairness-config-producer-v1"
FLOW_CONSUMER = "api-priority-and-fairness-config-consumer-v1"


class Bootstrap:
    """Read the objects of each source and record the managers of their fields."""

    def __init__(self, types: dict[str, Json], catalog: Json, priorities: Priorities) -> None:
        self.types = types
        self.kinds = type_of_kind(types)
        self.resources = [resource for resource in catalog["resources"] if resource.get("served")]
        self.priorities = priorities

    def objects(self, kubernetes: Path) -> dict[str, list[Json]]:
        """List path -> objects by namespace and name."""
        found = {
            **self.cluster(),
            **self.rbac(kubernetes / TESTDATA),
            **self.flow_control(),
            f"/apis/{AGGREGATOR}/v1/apiservices": list(self.api_services()),
        }
        return {path: sorted(found[path], key=by_name) for path in sorted(found)}

    def cluster(self) -> dict[str, list[Json]]:
        out = {}
        for path, part in read_yaml(HERE / "cluster.yaml").items():
            out[path] = [
                self.managed(
                    path,
                    item,
                    unmanaged=part.get("unmanaged", ()),
                    status_manager=part.get("statusManager"),
                )
                for item in part["objects"]
            ]
        return out

    def rbac(self, testdata: Path) -> dict[str, list[Json]]:
        out = {}
        for plural, files in RBAC_FILES.items():
            path = f"/apis/rbac.authorization.k8s.io/v1/{plural}"
            items = [item for name in files for item in read_yaml(testdata / name)["items"]]
            for item in items:
                del item["apiVersion"], item["kind"]
                item["metadata"].pop("creationTimestamp", None)
            out[path] = [self.managed(path, item) for item in items]
        return out

    def flow_control(self) -> dict[str, list[Json]]:
        out = {}
        for plural, specs in read_yaml(HERE / "flowcontrol.yaml").items():
            path = f"{FLOW_CONTROL}/{plural}"
            schemas = plural == "flowschemas"
            out[path] = [
                self.managed(
                    path,
                    {
                        "metadata": {
                            "name": name,
                            "generation": 1,
                            "annotations": {"apf.kubernetes.io/autoupdate-spec": "true"},
                        },
                        "spec": spec,
                        "status": not_dangling(spec) if schemas else {},
                    },
                    manager=FLOW_PRODUCER,
                    unmanaged=("status",),
                    status_manager=FLOW_CONSUMER if schemas else None,
                )
                for name, spec in specs.items()
            ]
        return out

    def api_services(self) -> Iterator[Json]:
        path = f"/apis/{AGGREGATOR}/v1/apiservices"
        served = {(resource["group"], resource["version"]) for resource in self.resources}
        for group, version in sorted(served):
            # The aggregator serves its own group itself.
            if group == AGGREGATOR:
                continue
            group_priority, version_priority = self.priorities[group, version]
            yield self.managed(
                path,
                {
                    "metadata": {
                        "name": f"{version}.{group}",
                        "labels": {"kube-aggregator.kubernetes.io/automanaged": "onstart"},
                    },
                    "spec": {
                        **({"group": group} if group else {}),
                        "version": version,
                        "groupPriorityMinimum": group_priority,
                        "versionPriority": version_priority,
                    },
                    "status": {
                        "conditions": [
                            {
                                "type": "Available",
                                "status": "True",
                                "lastTransitionTime": "<time>",
                                "reason": "Local",
                                "message": "Local APIServices are always available",
                            }
                        ]
                    },
                },
                unmanaged=("status",),
            )

    def managed(
        self,
        path: str,
        item: Json,
        *,
        manager: str = SERVER,
        unmanaged: tuple[str, ...] = (),
        status_manager: str | None = None,
    ) -> Json:
        """Return the object with the record of its managers, the applying one first."""
        parts = path.split("/")
        group, version, plural = ("", *parts[2:]) if parts[1] == "api" else parts[2:]
        api_version = f"{group}/{version}" if group else version
        kind = next(
            resource["kind"]
            for resource in self.resources
            if (resource["group"], resource["version"], resource["plural"]) == (group, version, plural)
        )
        type_name = self.kinds[group, version, kind]
        entries = []
        unmanaged = (*unmanaged, "status")
        if status_manager:
            owned = Owner(self.types, applied=True).struct({"status": item["status"]}, type_name)
            entries.append(managed_entry(owned, api_version, status_manager, "Apply", "status"))
        owned = Owner(self.types, applied=False).struct(without(item, unmanaged), type_name)
        entries.append(managed_entry(owned, api_version, manager, "Update"))
        return {**item, "metadata": {**item["metadata"], "managedFields": entries}}


def by_name(item: Json) -> tuple[str, str]:
    return item["metadata"].get("namespace", ""), item["metadata"]["name"]


def without(item: Json, paths: tuple[str, ...]) -> Json:
    out = dict(item)
    for path in paths:
        head, _, rest = path.partition(".")
        if not rest:
            out.pop(head, None)
        elif head in out:
            out[head] = without(out[head], (rest,))
    return out


def not_dangling(spec: Json) -> Json:
    level = spec["priorityLevelConfiguration"]["name"]
    return {
        "conditions": [
            {
                "type": "Dangling",
                "status": "False",
                "lastTransitionTime": "<time>",
                "reason": "Found",
                "message": "This FlowSchema references the PriorityLevelConfiguration object "
                f'named "{level}" and it exists',
            }
        ]
    }


def read_yaml(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))
