"""Whose pods go for one of a higher priority (`framework/preemption`, `framework/plugins/defaultpreemption`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct

from hydrofoil.controllers.objects.budgets import PodDisruptionBudget
from hydrofoil.controllers.objects.pods import Pod
from hydrofoil.controllers.objects.times import parse_time
from hydrofoil.scheduler.cluster import Cluster
from hydrofoil.scheduler.filters.filter import Refusal
from hydrofoil.scheduler.node_info import NodeInfo, PodInfo
from hydrofoil.scheduler.profile import Filters

NEVER = "not eligible due to preemptionPolicy=Never."
LEAVING = "not eligible due to a terminating pod on the nominated node."
NOBODY = Refusal(("No preemption victims found for incoming pod",), True)
HELPLESS = "Preemption is not helpful for scheduling"
CANDIDATES = 100
"""The number of nodes among which one is chosen (`minCandidateNodesAbsolute`), or a tenth of all if that is more."""
BY_SCHEDULER = "PreemptionByScheduler"


class Candidate(Struct, frozen=True):
    """A node, and the pods that would have to leave it."""

    node: str
    victims: tuple[PodInfo, ...]
    """The most important first."""
    violations: int
    """The number of victims that a budget protects."""


def no_node_message(count: int, reasons: Iterable[str]) -> str:
    """Return what upstream says of nodes that are refused, a reason for each or several (`FitError`)."""
    histogram = sorted(f"{number} {reason}" for reason, number in Counter(reasons).items())
    text = f"0/{count} nodes are available:"
    return f"{text} {', '.join(histogram)}." if histogram else text


def importance(info: PodInfo) -> tuple[int, str]:
    """Return the order of victims: those that go first are the last (`MoreImportantPod`)."""
    return -info.pod.spec.priority, info.pod.status.start_time or "9"


def is_leaving_by_preemption(pod: Pod) -> bool:
    """Report whether a pod is being deleted for another one (`podTerminatingByPreemption`)."""
    target = pod.condition("DisruptionTarget")
    return pod.is_deleting and target is not None and target.status == "True" and target.reason == BY_SCHEDULER


def why_not_eligible(pod: Pod, cluster: Cluster, refusals: dict[str, Refusal]) -> str:
    """Return why a pod must not preempt others now; empty if it may (`PodEligibleToPreemptOthers`)."""
    if pod.spec.preemption_policy == "Never":
        return NEVER
    nominated = pod.status.nominated_node_name
    refusal = refusals.get(nominated)
    node = cluster.nodes.get(nominated)
    if node is None or (refusal is not None and refusal.is_final):
        return ""
    leaving = (
        is_leaving_by_preemption(other.pod)
        for other in node.pods.values()
        if other.pod.spec.priority < pod.spec.priority
    )
    return LEAVING if any(leaving) else ""


def _protected(infos: Iterable[PodInfo], budgets: Sequence[PodDisruptionBudget]) -> set[str]:
    """Return the uids of victims beyond what their budgets allow (`filterPodsWithPDBViolation`)."""
    left = {budget.metadata.uid: budget.status.disruptions_allowed for budget in budgets}
    found = set()
    for info in infos:
        meta = info.pod.metadata
        if not meta.labels:
            continue
        for budget in budgets:
            selector = budget.spec.selector
            if budget.metadata.namespace != meta.namespace or selector is None or selector.is_empty:
                continue
            if not selector.matches(meta.labels) or meta.name in budget.status.disrupted_pods:
                continue
            left[budget.metadata.uid] -= 1
            if left[budget.metadata.uid] < 0:
                found.add(meta.uid)
    return found


def select_victims(filters: Filters, original: NodeInfo, budgets: Sequence[PodDisruptionBudget]) -> Candidate | Refusal:
    """Return the fewest pods of a node that have to go, or why none would help (`SelectVictimsOnNode`)."""
    priority = filters.pod.pod.spec.priority
    node = original.copy()
    possible = sorted((i for i in node.pods.values() if i.pod.spec.priority < priority), key=importance)
    if not possible:
        return NOBODY
    for info in possible:
        filters.remove(node, info)
    victims: list[PodInfo] = []
    refusal = filters.refuse_with_nominated(node)
    violations = 0
    if refusal is None:
        protected = _protected(possible, budgets)
        # Those that a budget protects are the first to stay, then the most important ones.
        for info in sorted(possible, key=lambda i: i.pod.metadata.uid not in protected):
            filters.add(node, info)
            if filters.refuse_with_nominated(node) is not None:
                filters.remove(node, info)
                victims.append(info)
                violations += info.pod.metadata.uid in protected
    # The trial ends as it began: the counts of other nodes are those of the cluster again.
    for info in possible if refusal is not None else victims:
        filters.add(node, info)
    if refusal is not None:
        return refusal
    return Candidate(original.name, tuple(sorted(victims, key=importance)), violations)


def _rank(candidate: Candidate) -> tuple[float, ...]:
    """Return the order in which nodes are preferred (`pickOneNodeForPreemption`)."""
    priorities = [info.pod.spec.priority for info in candidate.victims]
    highest = priorities[0]
    # The start of the one that ran longest, of those with the highest priority.
    starts = [
        parse_time(info.pod.status.start_time)
        for info in candidate.victims
        if info.pod.spec.priority == highest and info.pod.status.start_time
    ]
    total = sum(priority + (1 << 31) for priority in priorities)
    return candidate.violations, highest, total, len(priorities), -min(starts, default=0.0)


def find_candidate(
    filters: Filters, nodes: Sequence[NodeInfo], budgets: Sequence[PodDisruptionBudget]
) -> tuple[Candidate | None, dict[str, Refusal]]:
    """Return the best of the nodes that others may leave, and why the rest would not do (`DryRunPreemption`)."""
    most = max(CANDIDATES, len(nodes) // 10)
    candidates: list[Candidate] = []
    refusals: dict[str, Refusal] = {}
    for node in nodes:
        found = select_victims(filters, node, budgets)
        if isinstance(found, Refusal):
            refusals[node.name] = found
        elif found.victims:
            candidates.append(found)
        if len(candidates) >= most:
            break
    return min(candidates, key=_rank, default=None), refusals
