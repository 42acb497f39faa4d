"""Conversion of custom resources by webhook (apiextensions-apiserver `pkg/apiserver/conversion`)."""

from __future__ import annotations

import asyncio
import base64
import binascii
import re
import ssl
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import aiohttp
import orjson

from hydrofoil import client
from hydrofoil.clock import Chance
from hydrofoil.engine import Draft, Stored
from hydrofoil.errors import ApiError
from hydrofoil.registry import bounded

SECONDS = 30
"""How long a webhook may take."""
GROUP = "apiextensions.k8s.io"
SUPPORTED = ("v1", "v1beta1")
Object = dict[str, Any]
Key = tuple[int, str]
"""Which version of an object, and the API version in which it is asked for."""


class ConversionFailed(ApiError):
    """500: a webhook could not be reached, or its answer is not what was asked for."""

    def __init__(self, text: str) -> None:
        super().__init__(500, "", text)


@dataclass(slots=True, frozen=True)
class Endpoint:
    """Where a webhook listens."""

    url: str
    """As it is shown in errors."""
    connect: str
    """As it is connected to: another address for services."""
    name: str | None
    """The name that its certificate must have, when that is not the host of the URL."""


def endpoint(client: Object, services: dict[str, str]) -> Endpoint:
    """The endpoint of a clientConfig; `services` maps `namespace/name` to `host:port`. Raises ConversionFailed."""
    if client.get("url"):
        parts = urlsplit(client["url"])
        url = urlunsplit(parts._replace(query=f"timeout={SECONDS}s"))
        return Endpoint(url, url, None)
    service = client["service"]
    namespace, name = service["namespace"], service["name"]
    path = "/" + service.get("path", "").lstrip("/")
    host = f"{name}.{namespace}.svc"
    url = f"https://{host}:{service.get('port', 443)}{path}?timeout={SECONDS}s"
    address = services.get(f"{namespace}/{name}")
    if address is None:
        raise ConversionFailed(f'Post "{url}": service "{name}" not found')
    return Endpoint(url, f"https://{address}{path}?timeout={SECONDS}s", host)


def trust(client: Object) -> ssl.SSLContext:
    """Whom a webhook's certificate must be signed by: the bundle, or the roots of the system."""
    bundle = base64.b64decode(client.get("caBundle", "")).strip()
    return ssl.create_default_context(cadata=bundle.decode() if bundle else None)


def bundle_problem(bundle: bytes) -> str:
    """Why a caBundle is none, as Go's `transport.TLSConfigFor` tells; empty when it is one or nothing."""
    if not bundle:
        return ""
    blocks = CERTIFICATE.findall(bundle)
    problem = "unable to parse bytes as PEM block" if b"-----BEGIN " not in bundle else ""
    for block in blocks:
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cadata=block.decode("ascii"))
        except (ssl.SSLError, ValueError):
            problem = problem or "failed to parse certificate: x509: malformed certificate"
        else:
            return ""
    return f"unable to load root certificates: {problem or 'unable to parse bytes as PEM block'}"


CERTIFICATE = re.compile(rb"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", re.DOTALL)


class Call:
    """One call of a webhook, which all who need the same objects in the same version wait for."""

    __slots__ = ("keys", "task")

    def __init__(self, keys: set[Key], work: Coroutine[Any, Any, None]) -> None:
        self.keys = keys
        self.task = asyncio.create_task(work)

    async def outcome(self) -> ConversionFailed | None:
        """Wait for the end, which no waiter that goes away changes; why it failed, if it did."""
        try:
            await asyncio.shield(self.task)
        except ConversionFailed as e:
            # Each waiter tells of it in an answer of its own.
            return ConversionFailed(e.message)
        return None


class Webhook:
    """The conversion webhook of one definition."""

    def __init__(self, conversion: Object, services: dict[str, str], chance: Chance) -> None:
        self._chance = chance
        webhook = conversion["webhook"]
        self.conversion = conversion
        self._client: Object = webhook["clientConfig"]
        self._services = services
        self._review = next((v for v in webhook["conversionReviewVersions"] if v in SUPPORTED), "")
        self._session: aiohttp.ClientSession | None = None
        self._calls: dict[Key, Call] = {}
        self._busy = 0
        self._retired = False

    async def show(self, stored: list[Stored], api_version: str) -> None:
        """Convert versions that are to be shown in a version, each once for all who ask. Raises ConversionFailed."""
        pending = {(s.identity, api_version): s for s in stored if s.source() is not None}
        asked = set(pending)
        while pending:
            calls = {id(call): call for key in pending if (call := self._calls.get(key)) is not None}
            if own := {key: s for key, s in pending.items() if key not in self._calls}:
                call = Call(set(own), self._keep(own, api_version))
                self._calls.update(dict.fromkeys(own, call))
                call.task.add_done_callback(heard)
                calls[id(call)] = call
            for call in calls.values():
                why = await call.outcome()
                if why is not None and call.keys <= asked:
                    raise why
                # What failed for the sake of objects that others asked for is asked for again without them.
                for key in call.keys if why is None else ():
                    pending.pop(key, None)

    async def _keep(self, asked: dict[Key, Stored], api_version: str) -> None:
        """Ask the webhook for versions, and keep what it makes of them beside them."""
        try:
            sources = [(s, source) for s in asked.values() if (source := s.source()) is not None]
            made = await self._convert([source for _, source in sources], api_version)
            for (version, _), converted in zip(sources, made, strict=True):
                version.keep(converted)
        finally:
            for key in asked:
                del self._calls[key]

    async def store(self, draft: Draft, api_version: str) -> None:
        """Convert a draft to the version that is stored. Raises ConversionFailed."""
        source = draft.source()
        if source is not None:
            (converted,) = await self._convert([source], api_version)
            draft.store_as(converted)

    def retire(self) -> None:
        """Let the connections go when the calls in flight have ended: requests that began with it finish on it."""
        self._retired = True
        if not self._busy and self._session is not None:
            later(self._session)
            self._session = None

    async def close(self) -> None:
        """End the calls in flight and let the connections go."""
        tasks = {call.task for call in self._calls.values()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _convert(self, sources: list[bytes], api_version: str) -> list[bytes]:
        if not sources:
            return []
        originals: list[Object] = [orjson.loads(source) for source in sources]
        kind = f"{originals[0]['apiVersion']}, Kind={originals[0]['kind']}"
        try:
            answers = await self._ask(originals, api_version)
        except ConversionFailed as e:
            raise ConversionFailed(f"conversion webhook for {kind} failed: {e.message}") from None
        if len(answers) != len(originals):
            text = f"conversion webhook for {kind} returned {len(answers)} objects, expected {len(originals)}"
            raise ConversionFailed(text)
        out = []
        for i, (original, answer) in enumerate(zip(originals, answers, strict=True)):
            if why := mismatch(original, answer, api_version):
                raise ConversionFailed(f"conversion webhook for {kind} returned {why.replace('<i>', str(i))}")
            out.append(orjson.dumps(restored(original, answer, kind)))
        return out

    async def _ask(self, objects: list[Object], api_version: str) -> list[Object]:
        if not self._review:
            raise ConversionFailed("no supported conversion review versions")
        uid = self._chance.uid()
        request = {"uid": uid, "desiredAPIVersion": api_version, "objects": objects}
        review = {"kind": "ConversionReview", "apiVersion": f"{GROUP}/{self._review}", "request": request}
        answer = await self._post(orjson.dumps(review), len(objects))
        found = f"{answer.get('apiVersion', '')}, Kind={answer.get('kind', '')}"
        wanted = f"{GROUP}/v1, Kind=ConversionReview"
        if self._review == "v1" and found != wanted:
            raise ConversionFailed(f"expected webhook response of {wanted}, got {found}")
        response = answer.get("response")
        if not isinstance(response, dict):
            raise ConversionFailed("no response provided")
        if self._review == "v1" and response.get("uid") != uid:
            raise ConversionFailed(f'expected response.uid="{uid}", got "{response.get("uid", "")}"')
        result = response.get("result")
        result = result if isinstance(result, dict) else {}
        if result.get("status") != "Success":
            text = result.get("message") or f"response.result.status was '{result.get('status', '')}', not 'Success'"
            raise ConversionFailed(str(text))
        converted = response.get("convertedObjects")
        return [o for o in converted if isinstance(o, dict)] if isinstance(converted, list) else []

    async def _post(self, body: bytes, objects: int) -> Object:
        self._busy += 1
        try:
            return await self._posted(body, objects)
        finally:
            self._busy -= 1
            if self._retired:
                self.retire()

    async def _posted(self, body: bytes, objects: int) -> Object:
        where = endpoint(self._client, self._services)
        await client.ready()
        if self._session is None:
            try:
                # The roots of the system take 20 ms to read.
                context = await asyncio.to_thread(trust, self._client)
            except (ssl.SSLError, ValueError, binascii.Error) as e:
                raise ConversionFailed(f'Post "{where.url}": unable to load root certificates: {e}') from None
            if self._session is None:
                connector = aiohttp.TCPConnector(ssl=context)
                self._session = aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(total=SECONDS))
        headers = {"Content-Type": "application/json", "Accept": "application/json, */*"}
        try:
            async with self._session.post(
                where.connect, data=body, headers=headers, server_hostname=where.name, allow_redirects=False
            ) as answer:
                bound = bounded.review_bound(objects, len(body))
                status, data = answer.status, await bounded.read(answer, bound)
        except bounded.TooLarge as e:
            raise ConversionFailed(f'Post "{where.url}": {e}') from None
        except TimeoutError:
            why = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
            raise ConversionFailed(f'Post "{where.url}": {why}') from None
        except (aiohttp.ClientError, OSError) as e:
            raise ConversionFailed(f'Post "{where.url}": {e}') from None
        problem = "the answer is no object"
        try:
            # In Go `null` fills nothing in.
            found = {} if data.strip() == b"null" else await bounded.decoded(data)
        except orjson.JSONDecodeError as e:
            found, problem = None, f"couldn't get version/kind; json parse error: {e}"
        if not 200 <= status < 300:
            message = found.get("message") if isinstance(found, dict) and found.get("kind") == "Status" else None
            shown = data[:2048].decode(errors="replace").strip() or "unknown"
            text = f'an error on the server ("{shown}") has prevented the request from succeeding'
            raise ConversionFailed(str(message or text))
        if not isinstance(found, dict):
            raise ConversionFailed(problem)
        return found


def mismatch(original: Object, answer: Object, api_version: str) -> str:
    """What a webhook changed that it may not (`validateConvertedObject`); empty when nothing."""
    if answer.get("apiVersion") != api_version:
        versions = f"(expected {api_version}, received {answer.get('apiVersion', '')})"
        return f"invalid object at index <i>: invalid groupVersion {versions}"
    if answer.get("kind") != original["kind"]:
        kinds = f"(expected {original['kind']}, received {answer.get('kind', '')})"
        return f"invalid object at index <i>: invalid kind {kinds}"
    metadata = answer.get("metadata")
    given = metadata if isinstance(metadata, dict) else {}
    for key, word in (("name", "name"), ("namespace", "namespace"), ("uid", "UID")):
        was, now = original["metadata"].get(key, ""), given.get(key, "")
        if was != now:
            return f"invalid object: must have the same {word}: {was} != {now}"
    return ""


def restored(original: Object, answer: Object, kind: str) -> Object:
    """The answer with the metadata of the original, labels and annotations aside (`restoreObjectMeta`)."""
    given = answer.get("metadata")
    if not isinstance(given, dict):
        found = "missing metadata" if given is None else f"invalid metadata of type {type(given).__name__}"
        raise ConversionFailed(f"conversion webhook for {kind} returned invalid metadata: {found} in converted object")
    metadata = dict(original["metadata"])
    for key in ("labels", "annotations"):
        values = given.get(key)
        if values is None:
            metadata.pop(key, None)
            continue
        wrong = not isinstance(values, dict) or next((k for k, v in values.items() if not isinstance(v, str)), None)
        if wrong:
            why = f"invalid metadata.{key} in converted object"
            raise ConversionFailed(f"conversion webhook for {kind} returned invalid metadata: {why}")
        metadata[key] = values
    return {**answer, "metadata": metadata}


def heard(task: asyncio.Task[None]) -> None:
    """Take note of how a call ended: those who asked may all have gone."""
    if not task.cancelled():
        task.exception()


def later(session: aiohttp.ClientSession) -> None:
    """Close the connections of a webhook that is no longer asked."""
    task = asyncio.ensure_future(session.close())
    CLOSING.add(task)
    task.add_done_callback(CLOSING.discard)


CLOSING: set[asyncio.Future[None]] = set()
