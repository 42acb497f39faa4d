"""What a test knows of its server: the test's process loads neither the server nor its libraries for it."""

from __future__ import annotations

from typing import NamedTuple

from hydrofoil.server.kubeconfig_file import Credentials


class Facts(NamedTuple):
    """The properties of a server that has started."""

    url: str
    host: str
    port: int
    ca: str | None
    admin: Credentials


class FaultState(NamedTuple):
    """A fault as a test sees it."""

    number: int
    seen: int
    hits: int
    text: str
