"""The storage keys of objects below the prefix of all, as errors name them."""

from __future__ import annotations

PREFIXES = {
    ("", "replicationcontrollers"): "controllers",
    ("", "endpoints"): "services/endpoints",
    ("", "nodes"): "minions",
    ("", "services"): "services/specs",
    ("networking.k8s.io", "ingresses"): "ingress",
}
"""Storage keys that differ from the name of the resource (`SpecialDefaultResourcePrefixes`)."""
WHOLE = ("apiextensions.k8s.io", "apiregistration.k8s.io")
"""Groups whose storage keys name them, as those of custom resources do."""


def place(name: tuple[str, str], of: str) -> str:
    """Return the storage key of an object; `name` is that of its collection, `of` its namespace and name."""
    group, plural = name
    if group and plural.endswith(f".{group}"):
        return f"/{group}/{plural.removesuffix(f'.{group}')}/{of}"
    below = f"{group}/{plural}" if group in WHOLE else PREFIXES.get(name, plural)
    return f"/{below}/{of}"
