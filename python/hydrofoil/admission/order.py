"""The plug-ins that are on by default."""

from __future__ import annotations

from hydrofoil.admission.plugin import Plugin
from hydrofoil.admission.plugins.default_ingress_class import DefaultIngressClass
from hydrofoil.admission.plugins.default_storage_class import DefaultStorageClass
from hydrofoil.admission.plugins.default_toleration_seconds import DefaultTolerationSeconds
from hydrofoil.admission.plugins.lifecycle import NamespaceLifecycle
from hydrofoil.admission.plugins.limit_ranger import LimitRanger
from hydrofoil.admission.plugins.pod_security import PodSecurity
from hydrofoil.admission.plugins.priority import Priority
from hydrofoil.admission.plugins.pvc_resize import PersistentVolumeClaimResize
from hydrofoil.admission.plugins.quota import ResourceQuota
from hydrofoil.admission.plugins.runtime_class import RuntimeClass
from hydrofoil.admission.plugins.storage_protection import StorageObjectInUseProtection
from hydrofoil.admission.plugins.taint_nodes import TaintNodesByCondition
from hydrofoil.registry.store import Registry


def plugins(registry: Registry) -> list[Plugin]:
    """Return them in upstream's order (`AllOrderedPlugins` of `pkg/kubeapiserver/options/plugins.go`)."""
    return [
        NamespaceLifecycle(registry),
        LimitRanger(registry),
        TaintNodesByCondition(),
        PodSecurity(registry),
        Priority(registry),
        DefaultTolerationSeconds(),
        DefaultStorageClass(registry),
        StorageObjectInUseProtection(),
        PersistentVolumeClaimResize(registry),
        RuntimeClass(registry),
        DefaultIngressClass(registry),
        ResourceQuota(registry),
    ]
