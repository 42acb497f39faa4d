"""Calls about objects, plain and to be awaited: both are one method of the server's core."""

from __future__ import annotations

import builtins
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Literal, overload

from hydrofoil.controls.conditions import Condition, State
from hydrofoil.controls.documents import Source
from hydrofoil.controls.objects import Object, Patch, PatchType, Propagation

Gone = Literal["deleted", "delete"]
"""The conditions of which nothing is returned."""


class ObjectCalls:
    """Calls whose results are returned."""

    @abstractmethod
    def _act(self, name: str, *given: Any) -> Any:
        """Return the result of a call of the core."""

    @abstractmethod
    def resolve(self, sources: Sequence[Source]) -> builtins.list[Source]:
        """Return sources whose paths are absolute."""

    def apply(self, *sources: Source, namespace: str | None = None, status: bool = False) -> builtins.list[Object]:
        """Apply files, folders, manifests as texts, dicts or lists of dicts; return the objects once all are served.

        A text with a line break or `: `, or that begins with `{` or `[`, is a manifest; any other is a path, which
        begins at the folder of the test. `status`: write the status, too. Raise ApiError that names file and document.
        """
        applied: builtins.list[Object] = self._act("apply", self.resolve(sources), namespace, status)
        return applied

    @abstractmethod
    def _wait(self, object: str, condition: Condition, namespace: str, timeout: float) -> State:
        """Wait for a state."""

    @overload
    def wait_for(  # type: ignore[overload-overlap]  # a word known at run time alone is one of the others
        self, object: str, condition: Gone, namespace: str = "default", timeout: float = 10
    ) -> None: ...

    @overload
    def wait_for(
        self, object: str, condition: Condition = "exists", namespace: str = "default", timeout: float = 10
    ) -> Object: ...

    def wait_for(
        self, object: str, condition: Condition = "exists", namespace: str = "default", timeout: float = 10
    ) -> State:
        """Return an object such as `deployments.apps/web` once it meets a condition; None once it is deleted.

        Raise WaitTimeout after seconds of real time, RuntimeError in a running loop, which it would block.
        """
        return self._wait(object, condition, namespace, timeout)

    def get(self, object: str, namespace: str = "default") -> Object:
        """Return an object such as `deployments.apps/web`. Raise ApiError 404 if there is none."""
        found: Object = self._act("act", "get", object, namespace)
        return found

    def list(
        self,
        resource: str,
        namespace: str | None = "default",
        *,
        label_selector: str = "",
        field_selector: str = "",
    ) -> builtins.list[Object]:
        """Return the objects of a resource such as `pods`, of all namespaces if that is None. Raise ApiError."""
        found: builtins.list[Object] = self._act("act", "list", resource, namespace, label_selector, field_selector)
        return found

    def patch(
        self,
        object: str,
        change: Patch,
        namespace: str = "default",
        *,
        type: PatchType | None = None,
        subresource: str = "",
    ) -> Object:
        """Return an object, changed: a dict is merged, a list is a JSON patch; `type` may be `strategic`.

        Raise ApiError.
        """
        found: Object = self._act("act", "patch", object, change, namespace, type, subresource)
        return found

    def set_status(self, object: str, status: Mapping[str, Any], namespace: str = "default") -> Object:
        """Return an object with members of its status set, as its controller would; None removes one.

        Raise ApiError, also for a resource without status.
        """
        found: Object = self._act("act", "set_status", object, status, namespace)
        return found

    def delete(
        self,
        object: str,
        namespace: str = "default",
        *,
        propagation: Propagation = "Background",
        ignore_not_found: bool = False,
    ) -> None:
        """Delete an object; with finalizers it stays until they are removed. Raise ApiError 404 if there is none."""
        self._act("act", "delete", object, namespace, propagation, ignore_not_found)

    def why(self, object: str, namespace: str = "default") -> builtins.list[str]:
        """Return why an object is not ready: at most ten lines, the most likely cause first. Raise ApiError 404."""
        found: builtins.list[str] = self._act("act", "why", object, namespace)
        return found

    def events(self, object: str, namespace: str = "default") -> builtins.list[Object]:
        """Return the Events about an object, which may be gone; the latest last."""
        found: builtins.list[Object] = self._act("act", "events", object, namespace)
        return found


class AwaitableObjectCalls:
    """The same calls, to be awaited."""

    @abstractmethod
    async def _act(self, name: str, *given: Any) -> Any:
        """Return the result of a call of the core."""

    @abstractmethod
    def resolve(self, sources: Sequence[Source]) -> builtins.list[Source]:
        """Return sources whose paths are absolute."""

    async def apply(
        self, *sources: Source, namespace: str | None = None, status: bool = False
    ) -> builtins.list[Object]:
        """Apply files, folders, manifests as texts, dicts or lists of dicts; return the objects once all are served.

        A text with a line break or `: `, or that begins with `{` or `[`, is a manifest; any other is a path, which
        begins at the folder of the test. `status`: write the status, too. Raise ApiError that names file and document.
        """
        applied: builtins.list[Object] = await self._act("apply", self.resolve(sources), namespace, status)
        return applied

    @abstractmethod
    async def _wait(self, object: str, condition: Condition, namespace: str, timeout: float) -> State:
        """Wait for a state."""

    @overload
    async def wait_for(  # type: ignore[overload-overlap]  # a word known at run time alone is one of the others
        self, object: str, condition: Gone, namespace: str = "default", timeout: float = 10
    ) -> None: ...

    @overload
    async def wait_for(
        self, object: str, condition: Condition = "exists", namespace: str = "default", timeout: float = 10
    ) -> Object: ...

    async def wait_for(
        self, object: str, condition: Condition = "exists", namespace: str = "default", timeout: float = 10
    ) -> State:
        """Return an object such as `deployments.apps/web` once it meets a condition; None once it is deleted.

        Raise WaitTimeout after seconds of real time.
        """
        return await self._wait(object, condition, namespace, timeout)

    async def get(self, object: str, namespace: str = "default") -> Object:
        """Return an object such as `deployments.apps/web`. Raise ApiError 404 if there is none."""
        found: Object = await self._act("act", "get", object, namespace)
        return found

    async def list(
        self,
        resource: str,
        namespace: str | None = "default",
        *,
        label_selector: str = "",
        field_selector: str = "",
    ) -> builtins.list[Object]:
        """Return the objects of a resource such as `pods`, of all namespaces if that is None. Raise ApiError."""
        given = resource, namespace, label_selector, field_selector
        found: builtins.list[Object] = await self._act("act", "list", *given)
        return found

    async def patch(
        self,
        object: str,
        change: Patch,
        namespace: str = "default",
        *,
        type: PatchType | None = None,
        subresource: str = "",
    ) -> Object:
        """Return an object, changed: a dict is merged, a list is a JSON patch; `type` may be `strategic`.

        Raise ApiError.
        """
        found: Object = await self._act("act", "patch", object, change, namespace, type, subresource)
        return found

    async def set_status(self, object: str, status: Mapping[str, Any], namespace: str = "default") -> Object:
        """Return an object with members of its status set, as its controller would; None removes one.

        Raise ApiError, also for a resource without status.
        """
        found: Object = await self._act("act", "set_status", object, status, namespace)
        return found

    async def delete(
        self,
        object: str,
        namespace: str = "default",
        *,
        propagation: Propagation = "Background",
        ignore_not_found: bool = False,
    ) -> None:
        """Delete an object; with finalizers it stays until they are removed. Raise ApiError 404 if there is none."""
        await self._act("act", "delete", object, namespace, propagation, ignore_not_found)

    async def why(self, object: str, namespace: str = "default") -> builtins.list[str]:
        """Return why an object is not ready: at most ten lines, the most likely cause first. Raise ApiError 404."""
        found: builtins.list[str] = await self._act("act", "why", object, namespace)
        return found

    async def events(self, object: str, namespace: str = "default") -> builtins.list[Object]:
        """Return the Events about an object, which may be gone; the latest last."""
        found: builtins.list[Object] = await self._act("act", "events", object, namespace)
        return found
