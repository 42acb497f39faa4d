"""The group networking.k8s.io: IP addresses."""

from __future__ import annotations

from hydrofoil.registry.strategy import Strategy


class AddressStrategy(Strategy):
    """Take the prefix of a generated name as the name: an IP address is its own name (`noopNameGenerator`)."""

    prefix_is_name = True
