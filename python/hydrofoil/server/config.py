"""The settings of a server: the options of all rooms."""

from __future__ import annotations

from dataclasses import dataclass

from hydrofoil.apis.options import ApiOptions
from hydrofoil.controllers.options import ControllerOptions
from hydrofoil.endpoints.options import EndpointOptions
from hydrofoil.registry.options import RegistryOptions
from hydrofoil.server.options import LifeOptions, ListenOptions
from hydrofoil.storage.options import StorageOptions

ROOMS: tuple[type, ...] = (
    ListenOptions,
    ControllerOptions,
    ApiOptions,
    RegistryOptions,
    EndpointOptions,
    StorageOptions,
    LifeOptions,
)
"""The options of each room, in the order of the help."""


@dataclass(frozen=True, kw_only=True)
class Config(
    ListenOptions,
    ControllerOptions,
    ApiOptions,
    RegistryOptions,
    EndpointOptions,
    StorageOptions,
    LifeOptions,
):
    """What the command line decides; names follow kube-apiserver's flags."""
