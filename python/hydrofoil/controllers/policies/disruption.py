"""The status of disruption budgets (`pkg/controller/disruption/disruption.go`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from hydrofoil.apis.catalog import Catalog
from hydrofoil.controllers.objects.budgets import PodDisruptionBudget
from hydrofoil.controllers.objects.fractions import scaled_value
from hydrofoil.controllers.objects.meta import Condition
from hydrofoil.controllers.objects.pods import Pod
from hydrofoil.controllers.objects.times import parse_time
from hydrofoil.controllers.pod_selections import PodSelections
from hydrofoil.controllers.policies.expected_pods import UnknownScale, expected_pods
from hydrofoil.controllers.policies.pod_census import PodCensus, take_census
from hydrofoil.controllers.policies.selector_text import format_selector
from hydrofoil.controllers.runtime.batch_period import BatchPeriod
from hydrofoil.controllers.runtime.controller import ValueWatch, all_served
from hydrofoil.controllers.runtime.recorder import NORMAL, WARNING
from hydrofoil.controllers.runtime.runtime import Runtime
from hydrofoil.controllers.runtime.writes import service_account
from hydrofoil.controllers.workloads.workload import WorkloadController
from hydrofoil.errors import ApiError
from hydrofoil.watch.queue import Key

COMPONENT = "controllermanager"
DELETION_TIMEOUT = 120.0
"""The seconds after which a pod that was evicted is not expected to go any more (`DeletionTimeout`)."""
STALE_CONDITION = 120.0
"""The seconds after which a pod that is not deleted is no longer said to be disrupted (`stalePodDisruptionTimeout`)."""
DISRUPTION_ALLOWED, DISRUPTION_TARGET = "DisruptionAllowed", "DisruptionTarget"
UNMANAGED = (
    "Pods selected by this PodDisruptionBudget (selector: {}) were found to be unmanaged. As a result, the status of "
    "the PDB cannot be calculated correctly, which may result in undefined behavior. To account for these pods please "
    'set ".spec.minAvailable" field of the PDB to an integer value.'
)
POD = "pod"
"""The first part of keys of pods whose condition may be stale."""


class PodNumbers(NamedTuple):
    """The numbers of a budget."""

    healthy: int
    desired: int
    expected: int

    @property
    def allowed(self) -> int:
        """Return how many pods may go. A budget without pods allows none: its first ones may not be counted yet."""
        return max(self.healthy - self.desired, 0) if self.expected > 0 else 0


class DisruptionController(WorkloadController):
    """Count the pods of each budget."""

    name = "disruption"
    user = service_account("disruption-controller")

    def __init__(self, runtime: Runtime) -> None:
        super().__init__(runtime)
        self._recorder = runtime.recorder(COMPONENT, self.user)
        self._batch = BatchPeriod(runtime, self.queue)

    @classmethod
    def served(cls, catalog: Catalog) -> bool:
        """Report whether all resources it reads are served."""
        return all_served(catalog, ("", "pods"), ("policy", "poddisruptionbudgets"))

    def watches(self) -> Iterable[ValueWatch[Any]]:
        return [
            self.watch("policy", "poddisruptionbudgets", PodDisruptionBudget, self._on_budget),
            self.watch("", "pods", Pod, self._on_pod),
        ]

    def start(self) -> None:
        super().start()
        self._budgets = self.lister("policy", "poddisruptionbudgets", PodDisruptionBudget)
        self._pods = self.lister("", "pods", Pod)
        self._selections = PodSelections(self._pods)

    async def stop(self) -> None:
        await super().stop()
        await self._recorder.close()

    # ---- events

    def _on_budget(self, old: PodDisruptionBudget | None, new: PodDisruptionBudget | None) -> None:
        either = old if new is None else new
        assert either is not None
        self.put(either.metadata.namespace, either.metadata.name)

    def _on_pod(self, old: Pod | None, new: Pod | None) -> None:
        before, after = self._selections.apply(old, new)
        # Upstream looks at one of several budgets, whichever comes first: the others are behind until it changes.
        for budget in dict.fromkeys((*before, *after)):
            self.put(*budget)
        if new is None:
            return
        if len(after) > 1:
            meta = new.metadata
            place = f'"{meta.namespace}"/"{meta.name}"'
            text = f'Pod {place} matches multiple PodDisruptionBudgets.  Chose "{after[0][1]}" arbitrarily.'
            self._recorder.record(meta.reference("v1", "Pod"), WARNING, "MultiplePodDisruptionBudgets", text)
        wait = self._stale_after(new)
        if wait is not None:
            self.queue.after((POD, new.metadata.namespace, new.metadata.name), wait)

    # ---- conditions of pods

    def _stale_after(self, pod: Pod) -> float | None:
        """Return the seconds until the condition of a pod is stale; None if it has none that may be."""
        condition = pod.condition(DISRUPTION_TARGET)
        if pod.is_deleting or pod.is_ended or condition is None or condition.status != "True":
            return None
        # The kubelet may take its time.
        if condition.reason == "TerminationByKubelet" or not condition.last_transition_time:
            return None
        age = self.registry.clock.seconds() - parse_time(condition.last_transition_time)
        return max(STALE_CONDITION - age, 0.0)

    async def work(self, key: Key) -> bool:
        """Process a budget, or the condition of a pod."""
        if len(key) == 2:
            await self._batch.wait()
            return await super().work(key)
        _, namespace, name = key
        pod = self._pods.get(namespace, name)
        wait = None if pod is None else self._stale_after(pod)
        if pod is None or wait is None:
            return True
        if wait > 0:
            self.queue.after(key, wait)
            return True
        condition = {
            "type": DISRUPTION_TARGET,
            "status": "False",
            "lastTransitionTime": self.registry.clock.text(),
            "reason": None,
            "message": None,
        }
        # A patch of one condition leaves the others as they are, and the uid makes it one of this pod.
        patch = {"metadata": {"uid": pod.metadata.uid}, "status": {"conditions": [condition]}}
        try:
            await self.client.patch(self.resource("", "pods"), namespace, name, patch, subresource="status")
        except ApiError as e:
            if e.code not in (404, 409):
                raise
        return True

    # ---- budgets

    async def sync(self, namespace: str, name: str) -> bool:
        """Write the status of a budget."""
        budget = self._budgets.get(namespace, name)
        if budget is None:
            self._selections.forget((namespace, name))
            return True
        self.check(budget.metadata)
        selector = budget.spec.selector
        if selector is None:
            self._selections.forget((namespace, name))
        pods = [] if selector is None else await self._selections.select((namespace, name), selector)
        if not pods:
            self._record(budget, NORMAL, "NoPods", "No matching pods found")
        census = await take_census(pods, budget.status.disrupted_pods)
        try:
            numbers = self._count(budget, census)
        except (UnknownScale, ValueError) as e:
            text = f"Failed to calculate the number of expected pods: {e}"
            self._record(budget, WARNING, "CalculateExpectedPodCountFailed", text)
            await self._forbid(budget, str(e))
            return True
        disrupted, wait = self._disrupted(budget, census.evicted)
        healthy = census.ready + sum(pod.is_ready for pod in census.evicted if pod.metadata.name not in disrupted)
        await self._write(budget, numbers._replace(healthy=healthy), disrupted)
        if wait is not None:
            self.queue.after((namespace, name), wait)
        return True

    def _record(self, budget: PodDisruptionBudget, kind: str, reason: str, message: str) -> None:
        self._recorder.record(budget.metadata.reference("policy/v1", "PodDisruptionBudget"), kind, reason, message)

    def _count(self, budget: PodDisruptionBudget, census: PodCensus) -> PodNumbers:
        """Return the numbers but for the healthy pods (`getExpectedPodCount`). Raise UnknownScale and ValueError."""
        spec = budget.spec
        if isinstance(spec.min_available, int) and spec.max_unavailable is None:
            return PodNumbers(0, spec.min_available, census.total)
        if spec.max_unavailable is None and spec.min_available is None:
            return PodNumbers(0, 0, 0)
        expected = expected_pods(self.registry, budget.metadata.namespace, census.owners)
        if census.has_unmanaged and spec.selector is not None:
            self._record(budget, WARNING, "UnmanagedPods", UNMANAGED.format(format_selector(spec.selector)))
        if spec.max_unavailable is not None:
            most = scaled_value(spec.max_unavailable, expected, rounds_up=True)
            return PodNumbers(0, max(expected - most, 0), expected)
        assert spec.min_available is not None
        return PodNumbers(0, scaled_value(spec.min_available, expected, rounds_up=True), expected)

    def _disrupted(self, budget: PodDisruptionBudget, pods: list[Pod]) -> tuple[dict[str, str], float | None]:
        """Return the evicted pods that are expected to go still, and the seconds until one of them is not any more."""
        known, now = budget.status.disrupted_pods, self.registry.clock.seconds()
        found: dict[str, str] = {}
        waits: list[float] = []
        for pod in pods:
            since = known[pod.metadata.name]
            left = parse_time(since) + DELETION_TIMEOUT - now
            if left > 0:
                found[pod.metadata.name] = since
                waits.append(left)
                continue
            # Upstream writes the namespace twice.
            namespace = budget.metadata.namespace
            text = f"Pod was expected by PDB {namespace}/{namespace} to be deleted but it wasn't"
            self._recorder.record(pod.metadata.reference("v1", "Pod"), WARNING, "NotDeleted", text)
        return found, min(waits, default=None)

    async def _write(self, budget: PodDisruptionBudget, numbers: PodNumbers, disrupted: dict[str, str]) -> None:
        """Write the status if it differs (`updatePdbStatus`)."""
        meta, status = budget.metadata, budget.status
        known = next((one for one in status.conditions if one.type == DISRUPTION_ALLOWED), None)
        state = ("True", "SufficientPods") if numbers.allowed > 0 else ("False", "InsufficientPods")
        present = PodNumbers(status.current_healthy, status.desired_healthy, status.expected_pods)
        if (
            (numbers, numbers.allowed, disrupted) == (present, status.disruptions_allowed, status.disrupted_pods)
            and known is not None
            and (known.status, known.reason) == state
            and status.observed_generation == known.observed_generation == meta.generation
        ):
            return
        await self._update(
            budget,
            {
                "observedGeneration": meta.generation,
                "disruptedPods": disrupted,
                "disruptionsAllowed": numbers.allowed,
                "currentHealthy": numbers.healthy,
                "desiredHealthy": numbers.desired,
                "expectedPods": numbers.expected,
                "conditions": self._conditions(status.conditions, *state, "", meta.generation),
            },
        )

    async def _forbid(self, budget: PodDisruptionBudget, message: str) -> None:
        """Allow no disruption where the numbers are unknown (`failSafe`)."""
        status = budget.status
        generation = status.observed_generation
        conditions = self._conditions(status.conditions, "False", "SyncFailed", message, generation)
        known = next((one for one in status.conditions if one.type == DISRUPTION_ALLOWED), None)
        if not status.disruptions_allowed and known is not None and known.message == message:
            return
        await self._update(
            budget,
            {
                "observedGeneration": generation,
                "disruptedPods": status.disrupted_pods,
                "disruptionsAllowed": 0,
                "currentHealthy": status.current_healthy,
                "desiredHealthy": status.desired_healthy,
                "expectedPods": status.expected_pods,
                "conditions": conditions,
            },
        )

    async def _update(self, budget: PodDisruptionBudget, status: dict[str, Any]) -> None:
        meta, budgets = budget.metadata, self.resource("policy", "poddisruptionbudgets")
        await self.client.update_status(budgets, meta.namespace, meta.name, status, version=meta.resource_version)

    def _conditions(
        self, present: tuple[Condition, ...], status: str, reason: str, message: str, generation: int
    ) -> list[dict[str, Any]]:
        """Return conditions with the one of this controller set (`meta.SetStatusCondition`)."""
        found: list[dict[str, Any]] = []
        made = {
            "type": DISRUPTION_ALLOWED,
            "status": status,
            "observedGeneration": generation,
            "lastTransitionTime": self.registry.clock.text(),
            "reason": reason,
            "message": message,
        }
        for one in present:
            if one.type == DISRUPTION_ALLOWED:
                if one.status == status:
                    made["lastTransitionTime"] = one.last_transition_time
                found.append(made)
            else:
                found.append(condition_value(one))
        return found if made in found else [*found, made]


def condition_value(condition: Condition) -> dict[str, Any]:
    """Return a condition as it is written (`metav1.Condition`)."""
    return {
        "type": condition.type,
        "status": condition.status,
        "observedGeneration": condition.observed_generation or 0,
        "lastTransitionTime": condition.last_transition_time,
        "reason": condition.reason or "",
        "message": condition.message or "",
    }
