"""Stateful sets that replace several pods at once, by the gate MaxUnavailableStatefulSet."""

from __future__ import annotations

import msgspec
import pytest

from hydrofoil.controllers.objects.meta import ObjectMeta
from hydrofoil.controllers.objects.pods import Pod
from hydrofoil.controllers.objects.revisions import ControllerRevision
from hydrofoil.controllers.objects.stateful_sets import StatefulSet
from hydrofoil.controllers.workloads.stateful_control import StatefulPodControl
from hydrofoil.controllers.workloads.stateful_pods import Member, member_of
from hydrofoil.controllers.workloads.stateful_update import StatefulUpdate

OLD, NEW = (ControllerRevision(ObjectMeta(name), number) for number, name in enumerate(("old", "new")))


class Control(StatefulPodControl):
    """What keeps the names of pods that are deleted."""

    def __init__(self) -> None:
        self.names: list[str] = []

    async def delete(self, member: Member) -> None:
        self.names.append(member.name)

    def follows_policy(self, _: Member) -> bool:
        return True


def stateful_set(replicas: int, most: int | str, partition: int = 0) -> StatefulSet:
    """Return a set whose pods are managed in parallel."""
    rolling = {"maxUnavailable": most, "partition": partition}
    spec = {
        "replicas": replicas,
        "podManagementPolicy": "Parallel",
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": rolling},
    }
    return msgspec.convert({"metadata": {"name": "db"}, "spec": spec}, StatefulSet)


def pod(number: int, revision: str, *, ready: bool = True) -> Member:
    """Return a pod of a revision."""
    labels = {"controller-revision-hash": revision, "statefulset.kubernetes.io/pod-name": f"db-{number}"}
    conditions = [{"type": "Ready", "status": "True" if ready else "False"}]
    found = {
        "metadata": {"name": f"db-{number}", "labels": labels},
        "spec": {"containers": []},
        "status": {"phase": "Running", "conditions": conditions},
    }
    return member_of(msgspec.convert(found, Pod))


@pytest.mark.parametrize(
    ("most", "partition", "ready", "deleted"),
    [
        (1, 0, "yyyyy", ["db-4"]),
        (3, 0, "yyyyy", ["db-4", "db-3", "db-2"]),
        ("50%", 0, "yyyyy", ["db-4", "db-3"]),
        ("1%", 0, "yyyyy", ["db-4"]),
        (9, 3, "yyyyy", ["db-4", "db-3"]),
        # Those that are not available count.
        (3, 0, "ynyyn", ["db-4"]),
        (2, 0, "ynyyn", []),
    ],
)
async def test_so_many_are_replaced(most: int | str, partition: int, ready: str, deleted: list[str]) -> None:
    pods = [pod(number, "old", ready=letter == "y") for number, letter in enumerate(ready)]
    control = Control()
    look = StatefulUpdate(control, stateful_set(5, most, partition), pods, OLD, NEW, 0.0)
    await look.run()
    assert control.names == deleted and look.status.current_replicas == 5 - len(deleted)


async def test_those_of_the_new_revision_stay() -> None:
    control = Control()
    pods = [pod(0, "old"), pod(1, "old"), pod(2, "new")]
    await StatefulUpdate(control, stateful_set(3, 1), pods, OLD, NEW, 0.0).run()
    assert control.names == ["db-1"]
