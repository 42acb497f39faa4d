"""A Kubernetes-API-compatible server."""

from hydrofoil.engine import version as __version__

__all__ = ["__version__"]
