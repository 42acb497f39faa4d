"""A Kubernetes-API-compatible server."""

from __future__ import annotations

from typing import Any

__all__ = ["ApiError", "Server", "StartError", "WaitTimeout", "__version__"]
PLACES = {
    "__version__": ("hydrofoil.engine", "version"),
    "ApiError": ("hydrofoil.errors", "ApiError"),
    "Server": ("hydrofoil.testing.server", "Server"),
    "StartError": ("hydrofoil.server.run", "StartError"),
    "WaitTimeout": ("hydrofoil.controls.waiting", "WaitTimeout"),
}
"""The modules of public names, imported on first use: the package alone loads neither aiohttp nor the extension."""


def load_name(members: dict[str, Any], name: str) -> Any:
    """Return a public name of a module with PLACES, given its members, which have it from then on."""
    place = members["PLACES"].get(name)
    if place is None:
        raise AttributeError(f"module {members['__name__']!r} has no attribute {name!r}")
    from importlib import import_module

    found = members[name] = getattr(import_module(place[0]), place[1])
    return found


def __getattr__(name: str) -> Any:
    return load_name(globals(), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
