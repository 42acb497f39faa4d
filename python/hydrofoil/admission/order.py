"""The plug-ins of a server."""

from __future__ import annotations

from collections.abc import Callable, Collection

from hydrofoil.admission.options import ORDER
from hydrofoil.admission.plugin import Plugin
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
from hydrofoil.admission.plugins.pod_security import PodSecurity
from hydrofoil.admission.plugins.policies import MutatingAdmissionPolicy, ValidatingAdmissionPolicy
from hydrofoil.admission.plugins.priority import Priority
from hydrofoil.admission.plugins.pvc_resize import PersistentVolumeClaimResize
from hydrofoil.admission.plugins.quota import ResourceQuota
from hydrofoil.admission.plugins.runtime_class import RuntimeClass
from hydrofoil.admission.plugins.service_account import ServiceAccount
from hydrofoil.admission.plugins.storage_protection import StorageObjectInUseProtection
from hydrofoil.admission.plugins.taint_nodes import TaintNodesByCondition
from hydrofoil.admission.plugins.webhooks import MutatingAdmissionWebhook, ValidatingAdmissionWebhook
from hydrofoil.admission.surroundings import Surroundings


def factories(around: Surroundings) -> dict[str, Callable[[], Plugin]]:
    """Return the plug-ins that exist, by name."""
    registry = around.registry
    return {
        "NamespaceLifecycle": lambda: NamespaceLifecycle(registry),
        "LimitRanger": lambda: LimitRanger(registry),
        "ServiceAccount": lambda: ServiceAccount(registry, registry.clock, registry.chance),
        "NodeRestriction": lambda: NodeRestriction(registry),
        "TaintNodesByCondition": TaintNodesByCondition,
        "PodSecurity": lambda: PodSecurity(registry),
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
        "MutatingAdmissionPolicy": lambda: MutatingAdmissionPolicy(around),
        "ValidatingAdmissionPolicy": lambda: ValidatingAdmissionPolicy(around),
        "MutatingAdmissionWebhook": lambda: MutatingAdmissionWebhook(around),
        "ValidatingAdmissionWebhook": lambda: ValidatingAdmissionWebhook(around),
        "ResourceQuota": lambda: ResourceQuota(registry),
    }


DEFAULT_OFF = frozenset(("NodeRestriction", "OwnerReferencesPermissionEnforcement"))
"""Those that run only where they are named."""


def plugins(around: Surroundings, enabled: Collection[str] = (), disabled: Collection[str] = ()) -> list[Plugin]:
    """Return the plug-ins that are on, in upstream's order; what is both enabled and disabled is off."""
    made = factories(around)
    on = ({*made} - DEFAULT_OFF | {*enabled}) - {*disabled}
    return [made[name]() for name in ORDER if name in on and name in made]
