"""The plug-ins of a server."""

from __future__ import annotations

from collections.abc import Callable, Collection
from importlib import import_module

from hydrofoil.admission.options import ORDER
from hydrofoil.admission.plugin import Plugin
from hydrofoil.admission.plugin_dependencies import PluginDependencies
from hydrofoil.admission.plugins.certificates import (
    CertificateApproval,
    CertificateSigning,
    CertificateSubjectRestriction,
    ClusterTrustBundleAttest,
)
from hydrofoil.admission.plugins.default_ingress_class import DefaultIngressClass
from hydrofoil.admission.plugins.default_storage_class import DefaultStorageClass
from hydrofoil.admission.plugins.default_toleration_seconds import DefaultTolerationSeconds
from hydrofoil.admission.plugins.lifecycle import NamespaceLifecycle
from hydrofoil.admission.plugins.limit_ranger import LimitRanger
from hydrofoil.admission.plugins.node_restriction import NodeRestriction
from hydrofoil.admission.plugins.owner_references import OwnerReferences
from hydrofoil.admission.plugins.pod_nodes import NodeDeclaredFeatureValidator, PodResizeValidator
from hydrofoil.admission.plugins.pod_security import PodSecurity
from hydrofoil.admission.plugins.pod_topology_labels import PodTopologyLabels
from hydrofoil.admission.plugins.policies import MutatingAdmissionPolicy, ValidatingAdmissionPolicy
from hydrofoil.admission.plugins.priority import Priority
from hydrofoil.admission.plugins.pvc_resize import PersistentVolumeClaimResize
from hydrofoil.admission.plugins.quota import ResourceQuota
from hydrofoil.admission.plugins.runtime_class import RuntimeClass
from hydrofoil.admission.plugins.service_account import ServiceAccount
from hydrofoil.admission.plugins.storage_protection import StorageObjectInUseProtection
from hydrofoil.admission.plugins.taint_nodes import TaintNodesByCondition
from hydrofoil.admission.plugins.webhooks import MutatingAdmissionWebhook, ValidatingAdmissionWebhook
from hydrofoil.apis.gates import Gates


def factories(deps: PluginDependencies) -> dict[str, Callable[[], Plugin]]:
    """Return the plug-ins that exist, by name."""
    registry = deps.registry
    return {
        "NamespaceLifecycle": lambda: NamespaceLifecycle(registry),
        "LimitRanger": lambda: LimitRanger(registry),
        "ServiceAccount": lambda: ServiceAccount(registry, registry.clock, registry.chance),
        "NodeRestriction": lambda: NodeRestriction(registry),
        "TaintNodesByCondition": TaintNodesByCondition,
        "PodSecurity": lambda: PodSecurity(registry, deps.configuration.get("PodSecurity")),
        "Priority": lambda: Priority(registry),
        "DefaultTolerationSeconds": DefaultTolerationSeconds,
        "DefaultStorageClass": lambda: DefaultStorageClass(registry),
        "StorageObjectInUseProtection": StorageObjectInUseProtection,
        "OwnerReferencesPermissionEnforcement": lambda: OwnerReferences(registry.catalog),
        "PersistentVolumeClaimResize": lambda: PersistentVolumeClaimResize(registry),
        "RuntimeClass": lambda: RuntimeClass(registry),
        "CertificateApproval": CertificateApproval,
        "CertificateSigning": CertificateSigning,
        "ClusterTrustBundleAttest": ClusterTrustBundleAttest,
        "CertificateSubjectRestriction": CertificateSubjectRestriction,
        "DefaultIngressClass": lambda: DefaultIngressClass(registry),
        "PodTopologyLabels": lambda: PodTopologyLabels(deps),
        "NodeDeclaredFeatureValidator": lambda: NodeDeclaredFeatureValidator(registry),
        "PodResizeValidator": lambda: PodResizeValidator(registry),
        "MutatingAdmissionPolicy": lambda: MutatingAdmissionPolicy(deps),
        "ValidatingAdmissionPolicy": lambda: ValidatingAdmissionPolicy(deps),
        "MutatingAdmissionWebhook": lambda: MutatingAdmissionWebhook(deps),
        "ValidatingAdmissionWebhook": lambda: ValidatingAdmissionWebhook(deps),
        "ResourceQuota": lambda: ResourceQuota(registry, deps.configuration.get("ResourceQuota")),
    }


def rare(module: str, name: str) -> Callable[[PluginDependencies], Plugin]:
    """Return the maker of a plug-in that is off by default: its module is loaded where it is on."""

    def make(deps: PluginDependencies) -> Plugin:
        found = getattr(import_module(f"hydrofoil.admission.plugins.{module}"), name)
        made: Plugin = found(deps) if _takes(found) else found()
        return made

    return make


def _takes(kind: type[Plugin]) -> bool:
    """Report whether a plug-in is made from the parts of its server."""
    return "__init__" in vars(kind)


RARE: dict[str, Callable[[PluginDependencies], Plugin]] = {
    "AlwaysAdmit": rare("always", "AlwaysAdmit"),
    "NamespaceAutoProvision": rare("namespaces", "NamespaceAutoProvision"),
    "NamespaceExists": rare("namespaces", "NamespaceExists"),
    "LimitPodHardAntiAffinityTopology": rare("anti_affinity", "LimitPodHardAntiAffinityTopology"),
    "AlwaysPullImages": rare("always_pull_images", "AlwaysPullImages"),
    "ImagePolicyWebhook": rare("image_policy", "ImagePolicyWebhook"),
    "PodNodeSelector": rare("pod_node_selector", "PodNodeSelector"),
    "PodTolerationRestriction": rare("pod_toleration_restriction", "PodTolerationRestriction"),
    "EventRateLimit": rare("event_rate_limit", "EventRateLimit"),
    "ExtendedResourceToleration": rare("extended_resource_toleration", "ExtendedResourceToleration"),
    "DenyServiceExternalIPs": rare("external_ips", "DenyServiceExternalIPs"),
    "AlwaysDeny": rare("always", "AlwaysDeny"),
}
"""Plug-ins that are off by default."""
DEFAULT_OFF = frozenset(("NodeRestriction", "OwnerReferencesPermissionEnforcement", *RARE))
"""Those that run only where they are named."""
ABSENT = frozenset(("PodGroupProtection", "PodGroupWorkloadExists", "JobValidation"))
"""Plug-ins of alpha features: they do nothing."""
GATES = {
    "MutatingAdmissionPolicy": "MutatingAdmissionPolicy",
    "NodeDeclaredFeatureValidator": "NodeDeclaredFeatures",
    "PodTopologyLabels": "PodTopologyLabelsAdmission",
}
"""Plug-ins that do nothing without a feature gate."""


def plugins_of_disabled_gates(gates: Gates) -> frozenset[str]:
    """Return the plug-ins whose gates are off."""
    return frozenset(name for name, gate in GATES.items() if not gates.enabled(gate))


def plugins(deps: PluginDependencies, enabled: Collection[str] = (), disabled: Collection[str] = ()) -> list[Plugin]:
    """Return the plug-ins that are on, in upstream's order."""
    made = factories(deps)
    on = ({*made} - DEFAULT_OFF | {*enabled}) - {*disabled} - ABSENT
    found = []
    for name in ORDER:
        if name in on:
            plugin = made[name]() if name in made else RARE[name](deps)
            plugin.name = name
            found.append(plugin)
    return found
