"""A request as webhooks and policies see it, in the versions that they ask for."""

from __future__ import annotations

from typing import Any

import orjson

from hydrofoil import errors
from hydrofoil.admission.attributes import Attributes
from hydrofoil.admission.matching.selectors import Labels, LabelSelector
from hydrofoil.admission.matching.target import Kind, Target, target
from hydrofoil.engine import Document, Stored
from hydrofoil.registry.objects import Objects

Object = dict[str, Any]
NAMESPACES = ("", "namespaces")
NO_REQUEST = Document(b"{}")
"""The request for expressions that do not use it."""


class VersionedRequest:
    """One request for the time of one phase; the forms of its objects are made when they are first needed."""

    def __init__(self, a: Attributes, objects: Objects) -> None:
        self.a = a
        self.objects = objects
        self.own: Target = target(a.resource, a.subresource)
        """The resource and kind of the request itself."""
        self.operation = a.operation
        name = a.name
        if not name and a.draft is not None and a.operation == "CREATE":
            name = a.draft.metadata().name
        self.name = name
        self.of_namespace = a.resource.storage == NAMESPACES
        # Upstream has a namespace be in itself.
        self.namespace = a.namespace or (name if self.of_namespace else "")
        self._labels: tuple[Labels | None, Labels | None] | None = None
        self._forms: dict[Kind, tuple[bytes | None, bytes | None]] = {}
        self._documents: dict[Kind, tuple[Document | None, Document | None]] = {}
        self._reviewed: dict[Target, Document] = {}

    @property
    def scoped(self) -> bool:
        """Report whether it concerns an object in a namespace; a namespace itself is not."""
        return bool(self.namespace) and not self.of_namespace

    def changed(self) -> None:
        """Forget what the object was: a webhook or policy has changed it."""
        self._labels = None
        self._forms.clear()
        self._documents.clear()

    def labels(self) -> tuple[Labels | None, Labels | None]:
        """Return the labels of the object and of the old one; None where there is none, or it has no metadata."""
        if self._labels is None:
            self._labels = self._of_object(), self._of_old()
        return self._labels

    def _of_object(self) -> Labels | None:
        draft = self.a.draft
        if draft is None or self.operation == "CONNECT":
            return None
        found: Labels = orjson.loads(draft.get(["metadata", "labels"]) or b"{}")
        return found

    def _of_old(self) -> Labels | None:
        old = self.a.old
        if old is None:
            return None
        text = old.json
        if b'"labels"' not in text:
            return {}
        found: Labels = orjson.loads(old.member("metadata") or b"{}").get("labels") or {}
        return found

    def selected(self, selector: LabelSelector) -> bool:
        """Report whether a selector of objects selects the object or the old one."""
        return selector.empty or any(labels is not None and selector.matches(labels) for labels in self.labels())

    def within(self, selector: LabelSelector) -> bool:
        """Report whether a selector of namespaces selects that of the request. Raise ApiError 404 without one."""
        if selector.empty or (not self.namespace and not self.of_namespace):
            return True
        if self.of_namespace and not self.a.subresource and self.operation in ("CREATE", "UPDATE"):
            return selector.matches(self.labels()[0] or {})
        stored = self.namespace_object()
        if stored is None:
            raise errors.not_found("", "namespaces", self.namespace)
        metadata = orjson.loads(stored.member("metadata") or b"{}")
        return selector.matches(metadata.get("labels") or {})

    def namespace_object(self) -> Stored | None:
        """Return the namespace of the request."""
        return self.objects.find("", "namespaces", "", self.namespace)

    async def forms(self, kind: Kind) -> tuple[bytes | None, bytes | None]:
        """Return the object and the old one as JSON of a kind. Raise ApiError 500 where they cannot be converted."""
        found = self._forms.get(kind)
        if found is None:
            found = self._forms[kind] = await self._made(kind)
        return found

    async def _made(self, kind: Kind) -> tuple[bytes | None, bytes | None]:
        draft, old = self.a.draft, self.a.old
        if kind == self.own.kind:
            return None if draft is None else draft.json(), None if old is None else old.json
        other = self.objects.catalog.by_kind.get((kind.group, kind.version, kind.kind))
        if other is None:
            why = f"unable to convert to {kind.api_version}, Kind={kind.kind}: unknown kind"
            raise errors.ApiError(500, "InternalError", f"Internal error occurred: {why}")
        given = None if draft is None else draft.json()
        if other.custom:
            return await self._custom(given, kind), await self._custom(None if old is None else old.json, kind)
        made = None
        if draft is not None and given is not None:
            made = _without_version(draft.preview(0).seen_as(other.native).json, given)
        return made, None if old is None else old.seen_as(other.native).json

    async def _custom(self, given: bytes | None, kind: Kind) -> bytes | None:
        """Return a custom resource in another version."""
        if given is None:
            return None
        if (webhook := self.a.resource.webhook) is not None:
            (made,) = await webhook.convert([given], kind.api_version)
            return made
        return orjson.dumps({**orjson.loads(given), "apiVersion": kind.api_version})

    async def documents(self, kind: Kind) -> tuple[Document | None, Document | None]:
        """Return the object and the old one for expressions."""
        found = self._documents.get(kind)
        if found is None:
            new, old = await self.forms(kind)
            found = (None if new is None else Document(new), None if old is None else Document(old))
            self._documents[kind] = found
        return found

    def request(self, at: Target) -> Object:
        """Return the request as reviews and expressions have it, without its objects (`CreateAdmissionRequest`)."""
        a = self.a
        user: Object = {"username": a.user.name} if a.user.name else {}
        if a.user.uid:
            user["uid"] = a.user.uid
        if a.user.groups:
            user["groups"] = list(a.user.groups)
        if a.user.extra:
            user["extra"] = {key: list(values) for key, values in a.user.extra.items()}
        sub = {"subResource": a.subresource, "requestSubResource": a.subresource} if a.subresource else {}
        found: Object = {
            "kind": at.kind.shown(),
            "resource": at.shown(),
            "requestKind": self.own.kind.shown(),
            "requestResource": self.own.shown(),
            **sub,
            "operation": self.operation,
            "userInfo": user,
            "dryRun": a.dry_run,
            "options": a.options(),
        }
        if self.name:
            found["name"] = self.name
        if self.namespace:
            found["namespace"] = self.namespace
        return found

    def reviewed(self, at: Target) -> Document:
        """Return the request for expressions."""
        found = self._reviewed.get(at)
        if found is None:
            found = self._reviewed[at] = Document(orjson.dumps(self.request(at), default=str))
        return found


def _without_version(made: bytes, given: bytes) -> bytes:
    """Return the JSON of a preview with the resource version of the draft itself."""
    version = orjson.loads(given).get("metadata", {}).get("resourceVersion")
    raw = orjson.loads(made)
    raw["metadata"].pop("resourceVersion", None)
    if version:
        raw["metadata"]["resourceVersion"] = version
    return orjson.dumps(raw)
