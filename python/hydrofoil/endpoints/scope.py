"""What a handler needs to know: the resource, the request and the answer's form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aiohttp import web

from hydrofoil import engine
from hydrofoil.admission.chain import Chain
from hydrofoil.apis.catalog import Resource
from hydrofoil.apis.scheme import package
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.negotiate import Accepted
from hydrofoil.endpoints.params import Params
from hydrofoil.endpoints.request_info import RequestInfo
from hydrofoil.errors import ApiError, bad_request
from hydrofoil.registry.pool import LARGE, run
from hydrofoil.registry.write import Write
from hydrofoil.storage.backend import Collection

if TYPE_CHECKING:
    from hydrofoil.engine import Stored
    from hydrofoil.registry.store import Registry
    from hydrofoil.watch.hub import Hub

MAX_BODY = 3 * 1024 * 1024
"""The largest request body, in bytes."""


@dataclass(slots=True)
class Scope:
    """One request on one resource."""

    request: web.BaseRequest
    info: RequestInfo
    params: Params
    resource: Resource
    registry: Registry
    hub: Hub
    common: bytes
    """Header lines that every answer carries."""
    accepted: Accepted
    admission: Chain
    """Who admits what it writes."""
    cbor: bool = False
    """Whether CBOR is served."""
    request_timeout: float = 60.0
    """How long the answer may take, in seconds."""
    patch: str = ""
    """The kind of a patch, as `patch_kind` tells it."""
    unsafe: bool = False
    """Whether a deletion may ask for what cannot be read to go; then, whether it does."""
    warnings: list[str] = field(default_factory=list)
    sent: int = 0
    """How many bytes the body has, once it was read."""

    @property
    def collection(self) -> Collection:
        """The objects of the resource."""
        return self.registry.collection(self.resource)

    def manager(self) -> str:
        """Who comes to own what the request sets: `fieldManager`, else the client's name (SSA-22)."""
        given = self.params.get("fieldManager")
        if given:
            return given
        agent = self.request.headers.get("User-Agent", "").partition("/")[0]
        return "".join(c for c in agent if c.isprintable()).encode()[:128].decode(errors="ignore") or "unknown"

    def write(
        self,
        *,
        dry_run: bool = False,
        manager: str = "",
        resource: Resource | None = None,
        subresource: str | None = None,
    ) -> Write:
        """What the request writes: its own resource and subresource where it is not told."""
        info = self.info
        write = self.admission.write(
            resource or self.resource,
            info.namespace,
            info.name,
            subresource=info.subresource,
            manager=manager,
            dry_run=dry_run,
            warnings=self.warnings,
        )
        if subresource is not None:
            write.subresource = subresource
        return write

    def form(self) -> str:
        """The native form of an answer that shows one object."""
        accepted = self.accepted
        if accepted.transform == "Table":
            include = self.params.get("includeObject", "") or "Metadata"
            if include not in ("None", "Metadata", "Object"):
                text = f"includeObject: Invalid value: \"{include}\": must be 'Metadata', 'Object', 'None', or empty"
                raise bad_request(f"Unable to convert to Table as requested: {text}")
            return f"json:table:{accepted.version}:{include}"
        encoding = "protobuf" if accepted.protobuf else "cbor" if accepted.cbor else "json"
        return f"{encoding}:metadata:{accepted.version}" if accepted.transform else encoding

    def pretty(self) -> bool:
        """Whether a person reads the answer."""
        return not self.accepted.binary and respond.read_by_people(
            self.request, self.params.get("pretty"), self.accepted
        )

    def object_answer(self, stored: Stored, status: int = 200) -> respond.Answer:
        """An answer that shows one object."""
        if self.accepted.transform == "PartialObjectMetadataList":
            text = (
                "you requested PartialObjectMetadataList, but the requested object is not a list "
                f"(*{package(self.resource.group)}.{self.resource.kind})"
            )
            raise ApiError(406, "NotAcceptable", text)
        body = stored.body(self.form())
        return self.finished(body, status) if self.accepted.binary else self.json_answer(body, status)

    async def shown(self, stored: Stored, status: int = 200) -> respond.Answer:
        """The same; a large object leaves the loop to be put into its form."""
        if stored.size <= LARGE:
            return self.object_answer(stored, status)
        return await run(self.object_answer, stored, status, pooled=True)

    async def rewritten(self, parts: Sequence[bytes]) -> respond.Answer:
        """An answer of JSON text in parts, in the negotiated media type; a large one leaves the loop for it."""
        return await run(lambda: self.json_answer(b"".join(parts)), pooled=sum(map(len, parts)) > LARGE)

    def json_answer(self, body: bytes, status: int = 200) -> respond.Answer:
        """An answer of JSON text, in the negotiated media type."""
        if self.accepted.protobuf:
            return self.finished(self.registry.catalog.protobuf(body), status)
        if self.accepted.cbor:
            return self.finished(engine.json_to_cbor(body), status)
        pretty = self.pretty()
        if self.accepted.yaml or pretty:
            body = respond.encode(body, self.accepted, pretty=pretty)
        return self.finished(body, status)

    def finished(self, body: bytes, status: int = 200, *, packed: bool = False) -> respond.Answer:
        """An answer whose body is in its media type already, or packed with gzip as well."""
        common = self.common
        if self.warnings:
            common += respond.header_lines({}, self.warnings)
        return respond.answer(self.request, status, body, self.accepted.media, common, packed=packed)

    async def body(self) -> bytes:
        """The request body. Raises 413."""
        content = self.request.content
        # A small body is in aiohttp's buffer by now.
        data = content.read_nowait() if content.is_eof() else await self._arriving()
        if len(data) > MAX_BODY:
            raise too_large()
        self.sent = len(data)
        return data

    async def _arriving(self) -> bytes:
        """A body that is still to come. Raises 413 as soon as it is too large."""
        length = self.request.content_length
        if length is not None and length > MAX_BODY:
            raise too_large()
        data = bytearray()
        async for piece in self.request.content.iter_any():
            data += piece
            if len(data) > MAX_BODY:
                raise too_large()
        return bytes(data)


def too_large() -> ApiError:
    """413 of a body over the limit."""
    return ApiError(413, "RequestEntityTooLarge", f"Request entity too large: limit is {MAX_BODY}")
