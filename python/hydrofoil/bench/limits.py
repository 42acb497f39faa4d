"""The number of files that this process may open: a watcher needs one."""

from __future__ import annotations

import resource


def raise_files() -> None:
    """Raise the limit as far as the machine allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
