"""Which pods of a daemon set go and come on each node (`pkg/controller/daemon/daemon_controller.go`, `update.go`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from msgspec import Struct, field

from hydrofoil.controllers.objects.daemon_sets import DaemonSet, DaemonSetStatus
from hydrofoil.controllers.objects.pods import FAILED, SUCCEEDED, Pod
from hydrofoil.controllers.objects.revisions import REVISION_HASH
from hydrofoil.controllers.workloads.daemon_pods import by_age, is_updated


class DaemonNode(NamedTuple):
    """A node, or the name of one that is gone, and its pods of a set."""

    name: str
    should_run: bool
    """Whether it has to have a pod."""
    may_run: bool
    """Whether a pod that it has may run on."""
    pods: list[Pod]
    exists: bool = True


class DaemonPlan(Struct):
    """Pods to be deleted, and nodes that need one."""

    delete: list[str] = field(default_factory=list)
    create: list[str] = field(default_factory=list)


class DaemonLook:
    """One look at the pods of a set; what it decides is written by the controller."""

    def __init__(self, found: DaemonSet, text: str, nodes: list[DaemonNode], now: float) -> None:
        """Take the hash of the present revision, and the present time in seconds since 1970."""
        self._found = found
        self._hash = text
        self._nodes = nodes
        self._now = now

    def _is_available(self, pod: Pod) -> bool:
        return pod.is_available(self._found.spec.min_ready_seconds, self._now)

    # ---- as many pods as nodes

    def manage(self, ended: Callable[[Pod, str], bool]) -> DaemonPlan:
        """Return what makes each node have its pod (`manage`). `ended` says whether a pod that has ended is deleted."""
        plan = DaemonPlan()
        for node in self._nodes:
            if not node.exists:
                # Nobody else deletes pods that are bound to no node.
                plan.delete += [pod.metadata.name for pod in node.pods if not pod.spec.node_name]
            elif node.should_run and not node.pods:
                plan.create.append(node.name)
            elif node.may_run:
                self._tidy(node, plan, ended)
            else:
                plan.delete += [pod.metadata.name for pod in node.pods if not pod.is_deleting]
        return plan

    def _tidy(self, node: DaemonNode, plan: DaemonPlan, ended: Callable[[Pod, str], bool]) -> None:
        """Delete pods of a node that have ended, and those that are too many (`podsShouldBeOnNode`)."""
        running = []
        for pod in node.pods:
            if pod.is_deleting:
                continue
            if pod.status.phase not in (FAILED, SUCCEEDED):
                running.append(pod)
            elif ended(pod, node.name):
                plan.delete.append(pod.metadata.name)
        running.sort(key=by_age)
        if self._found.max_surge(1) <= 0:
            plan.delete += [pod.metadata.name for pod in running[1:]]
        elif len(running) > 1:
            self._tidy_surge(running, plan)
        elif not running and node.should_run:
            plan.create.append(node.name)

    def _tidy_surge(self, running: list[Pod], plan: DaemonPlan) -> None:
        """Leave a pod of a former template beside one of the present one as long as it is needed."""
        new: Pod | None = None
        old: Pod | None = None
        for pod in running:
            if pod.metadata.labels.get(REVISION_HASH) == self._hash:
                if new is None:
                    new = pod
                    continue
            elif old is None:
                old = pod
                continue
            plan.delete.append(pod.metadata.name)
        if new is not None and old is not None and (not old.is_ready or self._is_available(new)):
            plan.delete.append(old.metadata.name)

    # ---- updates

    def _pair(self, node: DaemonNode) -> tuple[Pod | None, Pod | None] | None:
        """Return the new and the old pod of a node; None if it has several of a kind (`findUpdatedPodsOnNode`)."""
        new: Pod | None = None
        old: Pod | None = None
        for pod in node.pods:
            if pod.is_deleting:
                continue
            if is_updated(pod, self._found, self._hash):
                if new is not None:
                    return None
                new = pod
            elif old is not None:
                return None
            else:
                old = pod
        return new, old

    def roll(self) -> DaemonPlan:
        """Return the next step of an update (`rollingUpdate`)."""
        desired = sum(node.should_run for node in self._nodes)
        surge, unavailable = self._found.max_surge(desired), self._found.max_unavailable(desired)
        if desired and not surge and not unavailable:
            unavailable = 1
        # As upstream's map: nodes that are to have a pod, and those that have one.
        nodes = [node for node in self._nodes if node.pods or (node.should_run and node.exists)]
        return self._roll_with_surge(nodes, surge, desired) if surge else self._roll(nodes, unavailable)

    def _roll(self, nodes: list[DaemonNode], most: int) -> DaemonPlan:
        """Delete old pods, as long as few enough nodes are without an available one."""
        unavailable = 0
        replaced: list[str] = []
        candidates: list[str] = []
        for node in nodes:
            pair = self._pair(node)
            if pair is None:
                unavailable += 1
                continue
            new, old = pair
            if old is None or new is not None:
                # None or both are left to `manage`.
                unavailable += not (old is None and new is not None and self._is_available(new))
            elif not self._is_available(old):
                replaced.append(old.metadata.name)
                unavailable += 1
            elif unavailable < most:
                candidates.append(old.metadata.name)
        return DaemonPlan(delete=replaced + candidates[: max(most - unavailable, 0)])

    def _roll_with_surge(self, nodes: list[DaemonNode], most: int, desired: int) -> DaemonPlan:
        """Create new pods beside old ones, and delete old ones whose new pod is available."""
        plan = DaemonPlan()
        surge = available = 0
        unwanted: list[str] = []
        candidates: list[str] = []
        for node in nodes:
            pair = self._pair(node)
            if pair is None:
                surge += 1
                continue
            new, old = pair
            counted = old or new
            is_available = counted is not None and self._is_available(counted)
            available += is_available
            if old is None:
                continue
            if new is not None:
                if self._is_available(new):
                    plan.delete.append(old.metadata.name)
                else:
                    surge += 1
            elif not node.should_run:
                (unwanted if is_available else plan.delete).append(old.metadata.name)
            elif not is_available:
                plan.create.append(node.name)
            elif surge < most:
                candidates.append(node.name)
        # Where a set moves to other nodes, its pods there have to be available first.
        plan.delete += unwanted[: max(available - desired, 0)]
        plan.create += candidates[: max(most - surge, 0)]
        return plan

    # ---- status

    def status(self, *, observes: bool) -> DaemonSetStatus:
        """Return the status (`updateDaemonSetStatus`); with `observes`, its generation was acted upon."""
        present = self._found.status
        desired = current = misscheduled = ready = updated = available = 0
        for node in self._nodes:
            if not node.exists:
                continue
            if not node.should_run:
                misscheduled += bool(node.pods)
                continue
            desired += 1
            if not node.pods:
                continue
            current += 1
            oldest = min(node.pods, key=by_age)
            ready += oldest.is_ready
            available += self._is_available(oldest)
            updated += is_updated(oldest, self._found, self._hash)
        return DaemonSetStatus(
            current_number_scheduled=current,
            number_misscheduled=misscheduled,
            desired_number_scheduled=desired,
            number_ready=ready,
            observed_generation=self._found.metadata.generation if observes else present.observed_generation,
            updated_number_scheduled=updated,
            number_available=available,
            number_unavailable=desired - available,
            collision_count=present.collision_count,
        )
