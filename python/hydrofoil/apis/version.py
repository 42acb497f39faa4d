"""The order of versions."""

from __future__ import annotations

import re

KUBE_LIKE = re.compile(r"v(\d+)(?:(alpha|beta)(\d+))?")


def version_key(version: str) -> tuple[int, int, int, str]:
    """Return the sort key by priority: GA, beta, alpha, larger numbers first, then other names (CRD-13, CRD-14)."""
    match = KUBE_LIKE.fullmatch(version)
    if match is None:
        return (3, 0, 0, version)
    major, word, minor = match.groups()
    level = {None: 0, "beta": 1, "alpha": 2}[word]
    return (level, -int(major), -int(minor or 0), "")
