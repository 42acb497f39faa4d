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


def __getattr__(name: str) -> Any:
    place = PLACES.get(name)
    if place is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found = globals()[name] = getattr(import_module(place[0]), place[1])
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
