"""Generator of the catalog of built-in types and of the other data files of `hydrofoil.apis`."""
