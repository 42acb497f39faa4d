"""Conversion of custom resources by webhook (apiextensions-apiserver `pkg/apiserver/conversion`)."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Coroutine
from typing import Any

import orjson

from hydrofoil.apiextensions import review
from hydrofoil.apiextensions.review import ConversionFailed, mismatch, restore_metadata, unreadable
from hydrofoil.clock import Chance
from hydrofoil.engine import Draft, Stored
from hydrofoil.outbound import bounds
from hydrofoil.outbound.connections import Connections
from hydrofoil.outbound.endpoint import Endpoint
from hydrofoil.outbound.review import LATE, post_failure, send
from hydrofoil.outbound.services import Services
from hydrofoil.outbound.trust import Trust, Unreachable
from hydrofoil.pool import retrieve_result

SECONDS = 30
"""The timeout of a webhook."""
WHILE = "(Client.Timeout exceeded while awaiting headers)"
"""What Go adds where the client has the timeout."""
NOT_CALLED = "webhooks are not called here"
Object = dict[str, Any]
Key = tuple[int, str]
"""A version of an object, and the API version requested."""


class Call:
    """One call of a webhook, shared by all requests for the same objects in the same version."""

    __slots__ = ("keys", "task")

    def __init__(self, keys: set[Key], work: Coroutine[Any, Any, None]) -> None:
        self.keys = keys
        self.task = asyncio.create_task(work)

    async def outcome(self) -> ConversionFailed | None:
        """Wait for the result, which no cancelled waiter affects; return the error of a failed call."""
        try:
            await asyncio.shield(self.task)
        except ConversionFailed as e:
            # Each waiter raises an error of its own.
            return ConversionFailed(e.message)
        return None


class Webhook:
    """The conversion webhook of one definition."""

    def __init__(self, conversion: Object, services: Services | None, chance: Chance) -> None:
        """`services` locates the webhook; None: it is not called, and each conversion fails."""
        self._chance = chance
        webhook = conversion["webhook"]
        self.conversion = conversion
        client: Object = webhook["clientConfig"]
        self._endpoint = Endpoint(client, SECONDS)
        self._services = services
        self._review = review.supported_version(webhook["conversionReviewVersions"])
        ca = base64.b64decode(client.get("caBundle", "")).strip()
        self._connections = Connections(Trust(ca), unpack=True)
        self._calls: dict[Key, Call] = {}

    async def to_request_version(self, stored: list[Stored], api_version: str) -> None:
        """Convert objects to the requested version, once for all callers. Raise ConversionFailed."""
        pending = {(s.identity, api_version): s for s in stored if s.to_convert() is not None}
        asked = set(pending)
        while pending:
            calls = {id(call): call for key in pending if (call := self._calls.get(key)) is not None}
            if own := {key: s for key, s in pending.items() if key not in self._calls}:
                call = Call(set(own), self._keep(own, api_version))
                self._calls.update(dict.fromkeys(own, call))
                call.task.add_done_callback(retrieve_result)
                calls[id(call)] = call
            for call in calls.values():
                why = await call.outcome()
                if why is not None and call.keys <= asked:
                    raise why
                # Objects whose call failed because of other objects in it are converted again without those.
                for key in call.keys if why is None else ():
                    pending.pop(key, None)

    async def _keep(self, asked: dict[Key, Stored], api_version: str) -> None:
        """Call the webhook for some objects, and keep the results beside them."""
        try:
            sources = [(s, source) for s in asked.values() if (source := s.to_convert()) is not None]
            made = await self._convert([source for _, source in sources], api_version)
            for (version, _), converted in zip(sources, made, strict=True):
                version.set_converted(converted)
        finally:
            for key in asked:
                del self._calls[key]

    async def to_storage_version(self, draft: Draft, api_version: str) -> None:
        """Convert a draft to the storage version. Raise ConversionFailed."""
        source = draft.to_convert()
        if source is not None:
            (converted,) = await self._convert([source], api_version)
            draft.set_converted(converted)

    async def convert(self, objects: list[bytes], api_version: str) -> list[bytes]:
        """Convert objects to any version. Raise ConversionFailed."""
        return await self._convert(objects, api_version)

    def retire(self) -> None:
        """Close the connections once the calls in flight have ended: requests that began with them finish on them."""
        self._connections.retire()

    async def close(self) -> None:
        """Cancel the calls in flight and close the connections."""
        tasks = {call.task for call in self._calls.values()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._connections.close()

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
            try:
                out.append(
                    orjson.dumps(restore_metadata(original, answer, kind), option=orjson.OPT_PASSTHROUGH_SUBCLASS)
                )
            except TypeError:
                why = unreadable(answer)
                text = f"conversion webhook for {kind} returned invalid converted object at index {i}: {why}"
                raise ConversionFailed(text if len(originals) > 1 else why) from None
        return out

    async def _ask(self, objects: list[Object], api_version: str) -> list[Object]:
        uid = self._chance.uid()
        body = review.request(self._review, uid, objects, api_version)
        return review.objects_of_response(self._review, uid, await self._post(body, len(objects)))

    async def _post(self, body: bytes, objects: int) -> Object:
        if self._services is None:
            raise ConversionFailed(NOT_CALLED)
        bound = bounds.review_bound(objects, len(body))
        try:
            reply = await send(self._connections, self._endpoint, self._services, body, bound, seconds=SECONDS)
        except TimeoutError:
            raise ConversionFailed(post_failure(self._endpoint, f"{LATE} {WHILE}")) from None
        except Unreachable as e:
            raise ConversionFailed(str(e)) from None
        data = reply.body
        problem = "the answer is no object"
        try:
            # In Go, `null` leaves a field as it is.
            found = {} if data.strip() == b"null" else await bounds.decode_json(data)
        except orjson.JSONDecodeError as e:
            found, problem = review.reread(data), f"couldn't get version/kind; json parse error: {e}"
        answered = found if isinstance(found, dict) else None
        if not 200 <= reply.status < 300:
            raise ConversionFailed(review.refusal(answered, data))
        if answered is None:
            raise ConversionFailed(problem)
        return answered
