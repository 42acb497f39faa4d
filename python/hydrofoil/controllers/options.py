"""The flag that selects the controllers."""

from __future__ import annotations

from dataclasses import dataclass

from hydrofoil.options import Refused, flag, quoted

NAMES = {
    "namespace": "namespace-controller",
    "garbagecollector": "garbage-collector-controller",
    "pvc-protection": "persistentvolumeclaim-protection-controller",
    "pv-protection": "persistentvolume-protection-controller",
    "vac-protection": "volumeattributesclass-protection-controller",
    "serviceaccount": "serviceaccount-controller",
    "serviceaccount-token": "serviceaccount-token-controller",
    "root-ca-cert-publisher": "root-ca-certificate-publisher-controller",
    "clusterrole-aggregation": "clusterrole-aggregation-controller",
}
"""The controllers, and their names in kube-controller-manager."""
SHORT = {long: short for short, long in NAMES.items()}


def controllers(text: str) -> str:
    """Read `*`, names and `-name`, as short names. Raise Refused for an unknown controller."""
    found = []
    for word in filter(None, (w.strip() for w in text.split(","))):
        name = word.removeprefix("-")
        short = SHORT.get(name, name)
        if word != "*" and short not in NAMES:
            raise Refused(f"{quoted(name)} is not in the list of known controllers: {', '.join(NAMES)}")
        found.append(f"-{short}" if word.startswith("-") else short)
    return ",".join(found)


@dataclass(frozen=True, kw_only=True)
class ControllerOptions:
    """Controllers."""

    controllers: str = flag(
        "--controllers",
        "*",
        controllers,
        f"{', '.join(NAMES)}; '*': all, '-name': not that one, empty: none (default {{}})",
        value="LIST",
    )

    def controls(self, name: str) -> bool:
        """Report whether a controller runs: `*`, a list of names, `-name` to leave one out."""
        words = [w.strip() for w in self.controllers.split(",") if w.strip()]
        if f"-{name}" in words:
            return False
        return name in words or "*" in words
