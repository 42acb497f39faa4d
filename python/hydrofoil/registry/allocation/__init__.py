"""Allocation of addresses and ports to services."""
