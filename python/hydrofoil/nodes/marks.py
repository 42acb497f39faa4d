"""The annotations of objects that say what a simulated node does."""

from __future__ import annotations

from hydrofoil import engine
from hydrofoil.controllers.objects.meta import ObjectMeta
from hydrofoil.endpoints.subresources.simulated import PREFIX

DEAD = "dead"
INDEX = "batch.kubernetes.io/job-completion-index"
"""The label with the completion index of a pod of a Job."""


def mark(meta: ObjectMeta, name: str) -> str | None:
    """Return an annotation by its name after the prefix; None if it is absent."""
    return meta.annotations.get(PREFIX + name)


def read_seconds(text: str | None) -> float:
    """Return a Go duration such as `500ms`, `2s` or `1h30m` in seconds; 0 for anything else."""
    return max(engine.duration(text or "") or 0.0, 0.0)


def exit_code(meta: ObjectMeta) -> int:
    """Return the exit code: a number for all, or `INDEX=CODE,...` by the completion index, others 0."""
    text = mark(meta, "exit-code") or "0"
    if "=" in text:
        codes = dict(part.split("=", 1) for part in text.split(",") if "=" in part)
        text = codes.get(meta.labels.get(INDEX, ""), "0")
    try:
        # As an exit status of Linux: no other number comes from a process.
        return int(text) & 0xFF if int(text) > 0 else 0
    except ValueError:
        return 0
