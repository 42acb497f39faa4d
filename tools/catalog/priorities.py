"""Priorities of the built-in group-versions, as the aggregator registers them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from .retired import PRIORITY

Priorities = dict[tuple[str, str], tuple[int, int]]

# The later file overrides the earlier one.
SOURCES = ("pkg/controlplane/apiserver/aggregator.go", "cmd/kube-apiserver/app/aggregator.go")
ENTRY = re.compile(r'\{Group: "([^"]*)", Version: "([^"]*)"\}:\s*\{Group: (\d+), Version: (\d+)\}')
AGGREGATOR = "apiregistration.k8s.io"


def read_priorities(kubernetes: Path) -> Priorities:
    """(group, version) -> (priority of the group, priority of the version)."""
    priorities: Priorities = dict(PRIORITY)
    for source in SOURCES:
        text = (kubernetes / source).read_text(encoding="utf-8")
        for group, version, group_priority, version_priority in ENTRY.findall(text):
            priorities[group, version] = (int(group_priority), int(version_priority))
    return priorities


def group_order(priorities: Priorities, groups: Iterable[str]) -> list[str]:
    """Core first, then the aggregator's own group, then by priority and name."""
    ranks: dict[str, int] = {}
    for (group, _), (priority, _) in priorities.items():
        ranks[group] = max(ranks.get(group, 0), priority)
    return sorted(
        set(groups),
        key=lambda group: (group != "", group != AGGREGATOR, -ranks.get(group, 0), group),
    )
