"""Claims of devices (`framework/plugins/dynamicresources`): those that a driver or a test has allocated are taken.

No device is chosen here, as no driver publishes any of a simulated node.
"""

from __future__ import annotations

from hydrofoil.controllers.objects.node_selectors import read_node_selector
from hydrofoil.scheduler.cluster import Cluster
from hydrofoil.scheduler.filters.filter import Filter, NoPlace, Refusal
from hydrofoil.scheduler.node_info import NodeInfo, PodInfo


class DynamicResources(Filter):
    """Refuse nodes without the devices of the pod's claims."""

    plugin = "DynamicResources"
    REFUSAL = Refusal(("cannot allocate all claims",), True, plugin)
    ELSEWHERE = Refusal(("resourceclaim not available on the node",), True, plugin)

    def __init__(self, pod: PodInfo, cluster: Cluster) -> None:
        super().__init__(pod, cluster)
        spec, meta = pod.pod.spec, pod.pod.metadata
        made = {each["name"]: each.get("resourceClaimName") for each in pod.pod.status.resource_claim_statuses}
        self._claims = []
        for each in spec.resource_claims:
            name = each.get("resourceClaimName") or made.get(each["name"])
            if name is None:
                text = f'pod "{meta.namespace}/{meta.name}": ResourceClaim not created yet'
                raise NoPlace(text, self.plugin)
            claim = None if cluster.devices is None else cluster.devices.get(meta.namespace, name)
            if claim is None:
                raise NoPlace(f'resourceclaim.resource.k8s.io "{name}" not found', self.plugin)
            self._claims.append(claim)

    @classmethod
    def concerns(cls, pod: PodInfo, _: Cluster) -> bool:
        return bool(pod.pod.spec.resource_claims)

    def refuse(self, node: NodeInfo) -> Refusal | None:
        for claim in self._claims:
            allocation = claim.status.allocation
            if allocation is None:
                return self.REFUSAL
            terms = read_node_selector(allocation.get("nodeSelector"))
            if terms is not None and not any(term.matches(node.name, node.labels) for term in terms):
                return self.ELSEWHERE
        return None
