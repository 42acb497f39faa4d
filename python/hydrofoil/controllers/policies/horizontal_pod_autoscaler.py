"""Horizontal pod autoscalers without metrics (`pkg/controller/podautoscaler/horizontal.go`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from hydrofoil import engine, errors
from hydrofoil.apis.catalog import Catalog, Resource
from hydrofoil.controllers.objects.autoscalers import (
    ABLE_TO_SCALE,
    SCALED_TO_ZERO,
    SCALING_ACTIVE,
    HorizontalPodAutoscaler,
)
from hydrofoil.controllers.objects.meta import LabelSelector, LabelSelectorRequirement
from hydrofoil.controllers.objects.pods import EXISTENCE, LABELS, Pod
from hydrofoil.controllers.pod_selections import PodSelections
from hydrofoil.controllers.policies.absent_metrics import metric_failure
from hydrofoil.controllers.policies.autoscaler_look import AutoscalerLook
from hydrofoil.controllers.policies.scales import Scale, find_scale, resources_of, set_replicas
from hydrofoil.controllers.runtime.controller import ValueWatch, all_served
from hydrofoil.controllers.runtime.recorder import NORMAL, WARNING
from hydrofoil.controllers.runtime.runtime import Runtime
from hydrofoil.controllers.runtime.writes import service_account
from hydrofoil.controllers.workloads.workload import WorkloadController
from hydrofoil.errors import ApiError
from hydrofoil.watch.queue import Key

COMPONENT = "horizontal-pod-autoscaler"
UNREADABLE = "the HPA controller was unable to get the target's current scale: {}"


class HorizontalPodAutoscalerController(WorkloadController):
    """Look at each autoscaler from time to time: keep its target within bounds, and say that there are no metrics."""

    name = "horizontalpodautoscaling"
    user = service_account("horizontal-pod-autoscaler")
    width = 5

    def __init__(self, runtime: Runtime, period: float) -> None:
        """Take the seconds between two looks (`--horizontal-pod-autoscaler-sync-period`)."""
        super().__init__(runtime)
        self._recorder = runtime.recorder(COMPONENT, self.user)
        self._period = period

    @classmethod
    def served(cls, catalog: Catalog) -> bool:
        """Report whether all resources it reads are served."""
        autoscalers = catalog.find("autoscaling", "v2", "horizontalpodautoscalers")
        return autoscalers is not None and all_served(catalog, ("", "pods"))

    def watches(self) -> Iterable[ValueWatch[Any]]:
        return [
            ValueWatch(self._autoscaler_resource(), HorizontalPodAutoscaler, self._on_autoscaler),
            self.watch("", "pods", Pod, self._on_pod, EXISTENCE | LABELS),
        ]

    def _autoscaler_resource(self) -> Resource:
        """Return the resource of autoscalers in the version that has all their fields."""
        found = self.registry.catalog.find("autoscaling", "v2", "horizontalpodautoscalers")
        if found is None:
            raise errors.no_such_resource()
        return found

    def start(self) -> None:
        super().start()
        self._autoscalers = self.informer(self._autoscaler_resource()).lister(HorizontalPodAutoscaler)
        self._selections = PodSelections(self.lister("", "pods", Pod))

    async def stop(self) -> None:
        await super().stop()
        await self._recorder.close()

    def _on_autoscaler(self, old: HorizontalPodAutoscaler | None, new: HorizontalPodAutoscaler | None) -> None:
        either = old if new is None else new
        assert either is not None
        # Also a change waits for the next look.
        self.queue.after((either.metadata.namespace, either.metadata.name), self._period)

    def _on_pod(self, old: Pod | None, new: Pod | None) -> None:
        self._selections.apply(old, new)

    async def work(self, key: Key) -> bool:
        """Look at an autoscaler, and again after a while."""
        await super().work(key)
        if self._autoscalers.get(*key) is not None:
            self.queue.after(key, self._period)
        return True

    async def sync(self, namespace: str, name: str) -> bool:
        """Bring the target of an autoscaler within its bounds, and write its status (`reconcileAutoscaler`)."""
        autoscaler = self._autoscalers.get(namespace, name)
        if autoscaler is None:
            self._selections.forget((namespace, name))
            return True
        self.check(autoscaler.metadata)
        look = AutoscalerLook(self.registry.clock, self._recorder, autoscaler)
        try:
            scale = self._scale(autoscaler)
        except ApiError as e:
            look.record(WARNING, "FailedGetScale", e.message)
            look.set_condition(ABLE_TO_SCALE, "False", "FailedGetScale", UNREADABLE.format(e.message))
            await self._write(autoscaler, look)
            return True
        text = "the HPA controller was able to get the target's current scale"
        look.set_condition(ABLE_TO_SCALE, "True", "SucceededGetScale", text)
        spec = autoscaler.spec
        if scale.replicas == 0:
            text = "scaling is disabled since the replica count of the target is zero"
            look.set_condition(SCALING_ACTIVE, "False", "ScalingDisabled", text)
            look.remove_condition(SCALED_TO_ZERO)
            look.set_numbers(0, 0)
        elif scale.replicas > spec.max_replicas:
            reason = "Current number of replicas above Spec.MaxReplicas"
            await self._rescale(look, scale, spec.max_replicas, reason)
        elif scale.replicas < spec.min_replicas:
            reason = "Current number of replicas below Spec.MinReplicas"
            await self._rescale(look, scale, spec.min_replicas, reason)
        else:
            await self._report_metrics(look, scale)
        await self._write(autoscaler, look)
        return True

    def _scale(self, autoscaler: HorizontalPodAutoscaler) -> Scale:
        """Return the scale of the target. Raise ApiError."""
        target = autoscaler.spec.scale_target_ref
        group = target.api_version.rpartition("/")[0]
        if "/" in group:
            raise ApiError(0, "", f"unexpected GroupVersion string: {target.api_version}")
        resources = [*resources_of(self.registry, group, target.kind)]
        if not resources:
            raise ApiError(0, "", f'no matches for kind "{target.kind}" in group "{group}"')
        failure: ApiError | None = None
        for resource in resources:
            try:
                return find_scale(self.registry, resource, autoscaler.metadata.namespace, target.name)
            except ApiError as e:
                failure = failure or e
        assert failure is not None
        raise failure

    async def _rescale(self, look: AutoscalerLook, scale: Scale, replicas: int, reason: str) -> None:
        """Set the replicas of the target."""
        try:
            write = self.write(scale.resource, scale.stored.namespace, scale.stored.name)
            await set_replicas(self.registry, write, scale, replicas)
        except ApiError as e:
            look.record(WARNING, "FailedRescale", f"New size: {replicas}; reason: {reason}; error: {e.message}")
            text = f"the HPA controller was unable to update the target scale: {e.message}"
            look.set_condition(ABLE_TO_SCALE, "False", "FailedUpdateScale", text)
            look.set_numbers(scale.replicas, look.status.desired_replicas)
            return
        text = f"the HPA controller was able to update the target scale to {replicas}"
        look.set_condition(ABLE_TO_SCALE, "True", "SucceededRescale", text)
        look.record(NORMAL, "SuccessfulRescale", f"New size: {replicas}; reason: {reason}")
        look.remove_condition(SCALED_TO_ZERO)
        look.set_numbers(scale.replicas, replicas, is_new=True)

    async def _report_metrics(self, look: AutoscalerLook, scale: Scale) -> None:
        """Say that no metric has a value (`computeReplicasForMetrics`)."""
        autoscaler = look.autoscaler
        metrics = autoscaler.spec.metrics
        error = await self._selector_error(look, scale)
        if error is None:
            failures = [metric_failure(metric, autoscaler.metadata.namespace) for metric in metrics]
            for failure in failures:
                look.record(WARNING, failure.reason, failure.message)
            first = failures[0]
            text = f"the HPA was unable to compute the replica count: {first.message}"
            look.set_condition(SCALING_ACTIVE, "False", first.reason, text)
            count = len(metrics)
            error = f"invalid metrics ({count} invalid out of {count}), first error is: {first.summary}"
            look.set_numbers(scale.replicas, look.status.desired_replicas, metrics=({"type": ""},) * count)
        else:
            look.set_numbers(scale.replicas, look.status.desired_replicas)
        look.record(WARNING, "FailedComputeMetricsReplicas", error)

    async def _selector_error(self, look: AutoscalerLook, scale: Scale) -> str | None:
        """Return what is wrong with the selector of the target, and say so (`validateAndParseSelector`)."""
        meta = look.autoscaler.metadata
        if not scale.selector:
            look.record(WARNING, "SelectorRequired", "selector is required")
            text = "the HPA target's scale is missing a selector"
            look.set_condition(SCALING_ACTIVE, "False", "InvalidSelector", text)
            return "selector is required"
        requirements = engine.label_requirements(scale.selector)
        if requirements is None:
            text = f"couldn't convert selector into a corresponding internal selector object: {scale.selector}"
            look.record(WARNING, "InvalidSelector", text)
            look.set_condition(SCALING_ACTIVE, "False", "InvalidSelector", text)
            return text
        terms = tuple(LabelSelectorRequirement(key, operator, tuple(values)) for key, operator, values in requirements)
        selector = LabelSelector(match_expressions=terms)
        pods = await self._selections.select((meta.namespace, meta.name), selector)
        others = sorted({key for pod in pods for key in self._selections.of(pod)})
        if len(others) < 2:
            return None
        keys = " ".join(f"{{{name} {namespace}}}" for namespace, name in others)
        text = f"pods by selector {scale.selector} are controlled by multiple HPAs: [{keys}]"
        look.record(WARNING, "AmbiguousSelector", text)
        look.set_condition(SCALING_ACTIVE, "False", "AmbiguousSelector", text)
        return text

    async def _write(self, autoscaler: HorizontalPodAutoscaler, look: AutoscalerLook) -> None:
        """Write the status if it differs."""
        meta = autoscaler.metadata
        if look.status == autoscaler.status:
            return
        value, version = msgspec.to_builtins(look.status), meta.resource_version
        try:
            await self.client.update_status(
                self._autoscaler_resource(), meta.namespace, meta.name, value, version=version
            )
        except ApiError as e:
            look.record(WARNING, "FailedUpdateStatus", e.message)
