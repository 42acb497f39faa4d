"""The group batch: jobs."""

from __future__ import annotations

from hydrofoil.registry.delete_options import DeleteOptions
from hydrofoil.registry.kinds.core import OrphaningStrategy


class JobStrategy(OrphaningStrategy):
    """Orphan the pods of a job by default, and warn of it."""

    def delete_warnings(self, options: DeleteOptions) -> list[str]:
        if options.orphan is not None or options.policy is not None:
            return []
        text = "child pods are preserved by default when jobs are deleted; "
        text += "set propagationPolicy=Background to remove them or "
        return [text + "set propagationPolicy=Orphan to suppress this warning"]
