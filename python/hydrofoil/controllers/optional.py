"""The controllers of resources that a server may not serve."""

from __future__ import annotations

from hydrofoil.controllers.aggregation import RoleAggregation
from hydrofoil.controllers.protection import PROTECTIONS, ProtectionController

OPTIONAL: dict[str, type[RoleAggregation | ProtectionController]] = {
    "clusterrole-aggregation": RoleAggregation,
    **PROTECTIONS,
}
"""By their names in `--controllers`, in the order in which they start."""
