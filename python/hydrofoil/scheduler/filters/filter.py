"""What a filter is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from msgspec import Struct

from hydrofoil.scheduler.cluster import Cluster
from hydrofoil.scheduler.node_info import NodeInfo, PodInfo


class Refusal(Struct, frozen=True):
    """Why a node is refused."""

    reasons: tuple[str, ...]
    is_final: bool = False
    """Whether no pod that leaves the node would help (`UnschedulableAndUnresolvable`)."""
    plugin: str = ""


class NoPlace(Exception):
    """A pod that no node can take, found before any node was looked at (`PreFilter`)."""

    def __init__(self, message: str, plugin: str) -> None:
        super().__init__(message)
        self.message = message
        self.plugin = plugin


class Filter(ABC):
    """One reason to refuse nodes, for one pod and one attempt."""

    plugin: ClassVar[str]
    """Its name in the profile."""
    looks_around: ClassVar[bool] = False
    """Whether the answer for one node depends on the pods of others."""

    def __init__(self, pod: PodInfo, cluster: Cluster) -> None:
        """Compute once what is the same for all nodes. Raise NoPlace."""
        self.pod = pod
        self.cluster = cluster

    @classmethod
    def concerns(cls, _pod: PodInfo, _cluster: Cluster) -> bool:
        """Report whether it may refuse any node at all (`PreFilter` returns `Skip` if not)."""
        return True

    @abstractmethod
    def refuse(self, node: NodeInfo) -> Refusal | None:
        """Return why a node is refused; None if it is not."""

    def add(self, node: NodeInfo, pod: PodInfo) -> None:  # noqa: B027 - most look at the node alone
        """Count a pod that is put on a node in a trial (`AddPod`)."""

    def remove(self, node: NodeInfo, pod: PodInfo) -> None:  # noqa: B027
        """Count a pod no more that is taken from a node in a trial (`RemovePod`)."""
