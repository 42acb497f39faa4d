"""Objects that a webhook or a policy has changed, on their way back into the draft."""

from __future__ import annotations

import orjson

from hydrofoil import engine, errors
from hydrofoil.admission.matching.target import Target
from hydrofoil.admission.matching.versioned_request import VersionedRequest
from hydrofoil.go_text import quote

DUPLICATE_OWNERS = (
    ".metadata.ownerReferences contains duplicate entries after mutating admission happens; API server dedups owner "
    "references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) "
    "observed: "
)
IMMUTABLE = "field is immutable"


class NotApplied(Exception):
    """A changed object that cannot be decoded as its kind."""


class Mutation:
    """The change of the object of a request."""

    def __init__(self, seen: VersionedRequest) -> None:
        self._seen = seen

    async def replace(self, at: Target, changed: bytes) -> bool:
        """Make a changed object, in the form of a target, the object of the request; report whether it differs.

        Raise NotApplied for one that cannot be decoded, and ApiError for one that is of another object.
        """
        seen, draft = self._seen, self._seen.a.object
        before = draft.json()
        own = await self._own(at, changed)
        try:
            draft.replace(own)
        except engine.DecodeError as e:
            raise NotApplied(e.message) from None
        draft.default(seen.objects.clock.native)
        if twice := draft.dedup_owners():
            seen.a.warn(DUPLICATE_OWNERS + ", ".join(twice))
        self._check()
        seen.changed()
        return draft.json() != before

    async def _own(self, at: Target, changed: bytes) -> bytes:
        """Return a changed object in the version of the request."""
        seen = self._seen
        try:
            raw = orjson.loads(changed)
        except orjson.JSONDecodeError as e:
            raise NotApplied(str(e)) from None
        if not isinstance(raw, dict):
            raise NotApplied("the patched object is no object")
        api_version, kind = raw.get("apiVersion"), raw.get("kind")
        if (api_version, kind) != (at.kind.api_version, at.kind.kind):
            custom = at.resource.custom
            if not custom and api_version == at.kind.api_version and isinstance(kind, str) and kind:
                # Of another type of a known version: upstream fails when it converts it.
                text = f"converting ({api_version}.{kind}) to ({at.kind.kind}): unknown conversion"
                raise errors.ApiError(500, "", text)
            raise NotApplied(f'no kind "{kind}" is registered for version "{api_version}"')
        if at.kind == seen.own.kind:
            return changed
        if at.resource.custom:
            if (webhook := seen.a.resource.webhook) is not None:
                (made,) = await webhook.convert([changed], seen.own.kind.api_version)
                return made
            return orjson.dumps({**raw, "apiVersion": seen.own.kind.api_version})
        try:
            other, _ = at.resource.native.decode(changed, "json")
        except engine.DecodeError as e:
            raise NotApplied(e.message) from None
        other.default(seen.objects.clock.native)
        made = orjson.loads(other.preview(0).seen_as(seen.a.resource.native).json)
        made["metadata"].pop("resourceVersion", None)
        if version := raw.get("metadata", {}).get("resourceVersion"):
            made["metadata"]["resourceVersion"] = version
        return orjson.dumps(made)

    def _check(self) -> None:
        """Check that the object is still that of the request. Raise ApiError 400, 409, 422 and 500."""
        a = self._seen.a
        meta = a.object.metadata()
        if a.resource.namespaced and meta.namespace != a.namespace and (meta.namespace or a.operation == "CREATE"):
            text = "the namespace of the provided object does not match the namespace sent on the request"
            raise errors.bad_request(text)
        if a.operation == "CREATE" and not a.subresource and meta.resource_version:
            raise errors.ApiError(500, "", "resourceVersion should not be set on objects to be created")
        if a.operation != "UPDATE" or a.old is None:
            return
        causes = []
        for field, now, was in (("name", meta.name, a.old.name), ("uid", meta.uid, a.old.uid)):
            if now != was and not (field == "uid" and not now):
                text = f"Invalid value: {quote(now)}: {IMMUTABLE}"
                causes.append(("FieldValueInvalid", text, f"metadata.{field}"))
        if causes:
            raise errors.invalid(a.resource.group, a.resource.kind, a.old.name, causes)
