"""`--include` and `--exclude`: resources by their names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hydrofoil.near import suggest


def full_name(group: str, resource: str) -> str:
    """Return `deployments.apps`; `pods` in the core group."""
    return f"{resource}.{group}" if group else resource


class Selection:
    """The resources that a command takes: all, or those that are included, without those that are excluded."""

    def __init__(self, include: Sequence[str], exclude: Sequence[str]) -> None:
        self.include = tuple(map(_normal, include))
        self.exclude = tuple(map(_normal, exclude))

    def takes(self, group: str, resource: str) -> bool:
        """Report whether a resource is taken."""
        name = full_name(group, resource)
        return (not self.include or self.names(name)) and name not in self.exclude

    def names(self, name: str) -> bool:
        """Report whether a resource is included by its name."""
        return name in self.include

    def resolve(self, aliases: dict[str, str]) -> Selection:
        """Return the selection with full names; `aliases` has those by all names. Raise ValueError with one line."""
        return Selection(*([_find(word, aliases) for word in words] for words in (self.include, self.exclude)))


def _normal(word: str) -> str:
    return word.strip().lower().removesuffix(".")


def _find(word: str, aliases: dict[str, str]) -> str:
    found = aliases.get(word)
    if found is None:
        raise ValueError(f"no resource {word!r}{suggest(word, aliases)}")
    return found


def name_resources(resources: Iterable[tuple[str, str, Iterable[str]]]) -> dict[str, str]:
    """Return full names by all names of resources: group, resource, and further names, of which the first one wins.

    >>> name_resources([("", "pods", ["po"]), ("apps", "deployments", []), ("x.io", "pods", [])])["deployments"]
    'deployments.apps'
    """
    found: dict[str, str] = {}
    resources = list(resources)
    # A full name is nobody else's short one.
    for group, resource, _ in resources:
        found.setdefault(full_name(group, resource), full_name(group, resource))
    for group, resource, others in resources:
        for name in (resource, *others):
            found.setdefault(name.lower(), full_name(group, resource))
            if group:
                found.setdefault(f"{name.lower()}.{group}", full_name(group, resource))
    return found
