"""The value of `--controllers`."""

from __future__ import annotations

from hydrofoil.cli.values import Refused, quoted

NAMES = {
    "namespace": "namespace-controller",
    "garbagecollector": "garbage-collector-controller",
    "pvc-protection": "persistentvolumeclaim-protection-controller",
    "pv-protection": "persistentvolume-protection-controller",
    "vac-protection": "volumeattributesclass-protection-controller",
}
"""The controllers, and what kube-controller-manager calls each."""
SHORT = {long: short for short, long in NAMES.items()}


def controllers(text: str) -> str:
    """`*`, names and `-name`, by their short names. Raises Refused for what is no controller."""
    found = []
    for word in filter(None, (w.strip() for w in text.split(","))):
        name = word.removeprefix("-")
        short = SHORT.get(name, name)
        if word != "*" and short not in NAMES:
            raise Refused(f"{quoted(name)} is not in the list of known controllers: {', '.join(NAMES)}")
        found.append(f"-{short}" if word.startswith("-") else short)
    return ",".join(found)
