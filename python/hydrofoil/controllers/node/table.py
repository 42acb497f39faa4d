"""The controllers of nodes."""

from __future__ import annotations

from hydrofoil.controllers.descriptor import Descriptor

DESCRIPTORS: tuple[Descriptor, ...] = ()
"""In the order in which they start."""
