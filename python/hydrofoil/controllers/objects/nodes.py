"""Nodes."""

from __future__ import annotations

from msgspec import Struct

from hydrofoil.controllers.objects.meta import Condition, ObjectMeta, find_condition

NO_SCHEDULE, PREFER_NO_SCHEDULE, NO_EXECUTE = "NoSchedule", "PreferNoSchedule", "NoExecute"


class Taint(Struct, frozen=True, gc=False, rename="camel"):
    """A taint of a node."""

    key: str
    effect: str
    value: str = ""
    time_added: str | None = None


class NodeSpec(Struct, frozen=True, gc=False, rename="camel"):
    """What is wanted of a node."""

    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()
    provider_id: str = ""


class NodeStatus(Struct, frozen=True, gc=False, rename="camel"):
    """What a node has and says of itself."""

    capacity: dict[str, str] = {}
    allocatable: dict[str, str] = {}
    conditions: tuple[Condition, ...] = ()


class Node(Struct, frozen=True, gc=False, rename="camel"):
    """A node."""

    metadata: ObjectMeta
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()

    def condition(self, kind: str) -> Condition | None:
        """Return a condition by its type."""
        return find_condition(self.status.conditions, kind)

    @property
    def is_ready(self) -> bool:
        """Report whether the node says that it is ready."""
        ready = self.condition("Ready")
        return ready is not None and ready.status == "True"


class Toleration(Struct, frozen=True, gc=False, rename="camel"):
    """A toleration of a pod."""

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""
    toleration_seconds: int | None = None

    def tolerates(self, taint: Taint) -> bool:
        """Report whether a taint is tolerated (`Toleration.ToleratesTaint`)."""
        if self.effect and self.effect != taint.effect:
            return False
        if self.key and self.key != taint.key:
            return False
        match self.operator:
            case "" | "Equal":
                # An empty key is allowed with Exists alone.
                return bool(self.key) and self.value == taint.value
            case "Exists":
                return True
            case "Lt" | "Gt":
                return _compares(self.operator, self.value, taint.value)
            case _:
                return False


def _compares(operator: str, tolerated: str, value: str) -> bool:
    """Compare numbers, as the gate TaintTolerationComparisonOperators allows."""
    try:
        left, right = int(value), int(tolerated)
    except ValueError:
        return False
    return left < right if operator == "Lt" else left > right
