"""Labels that a kubelet may not set on its node (k8s.io/kubelet `pkg/apis/well_known_labels.go`)."""

from __future__ import annotations

from collections.abc import Mapping

RESTRICTED = "node-restriction.kubernetes.io"
OWN = frozenset(
    (
        "kubernetes.io/hostname",
        "kubernetes.io/os",
        "kubernetes.io/arch",
        "beta.kubernetes.io/os",
        "beta.kubernetes.io/arch",
        "beta.kubernetes.io/instance-type",
        "node.kubernetes.io/instance-type",
        "topology.kubernetes.io/zone",
        "topology.kubernetes.io/region",
        "failure-domain.beta.kubernetes.io/zone",
        "failure-domain.beta.kubernetes.io/region",
    )
)
"""Labels of Kubernetes that kubelets set."""
OWN_DOMAINS = ("kubelet.kubernetes.io", "node.kubernetes.io")


def _within(domain: str, other: str) -> bool:
    return domain == other or domain.endswith(f".{other}")


def _is_forbidden(key: str) -> bool:
    domain, slash, _ = key.partition("/")
    if not slash:
        return False
    if _within(domain, RESTRICTED):
        return True
    if not _within(domain, "kubernetes.io") and not _within(domain, "k8s.io"):
        return False
    return key not in OWN and not any(_within(domain, own) for own in OWN_DOMAINS)


def forbidden(new: Mapping[str, str], old: Mapping[str, str]) -> list[str]:
    """Return the keys that differ and that a kubelet may not change, sorted."""
    changed = {key for key in {*new, *old} if new.get(key) != old.get(key)}
    return sorted(filter(_is_forbidden, changed))
