"""The controllers of resources that a server may not serve."""

from __future__ import annotations

from hydrofoil.controllers.aggregation import RoleAggregation
from hydrofoil.controllers.protection import PROTECTIONS, ProtectionController

OPTIONAL: tuple[type[RoleAggregation | ProtectionController], ...] = (RoleAggregation, *PROTECTIONS)
"""In the order in which they start."""
