"""Mutating webhooks: one after the other (apiserver `pkg/admission/plugin/webhook/mutating`)."""

from __future__ import annotations

from collections.abc import Sequence

import orjson
from msgspec import Struct, field

from hydrofoil import engine
from hydrofoil.admission.matching.target import Target
from hydrofoil.admission.mutation import Mutation, NotApplied
from hydrofoil.admission.webhooks.calls import CallFailed
from hydrofoil.admission.webhooks.dispatch import Round, internal
from hydrofoil.admission.webhooks.hook import Hook
from hydrofoil.admission.webhooks.reviews import Reply
from hydrofoil.clock import stopwatch
from hydrofoil.errors import FAULTS
from hydrofoil.go_text import quote
from hydrofoil.pace.sizes import LARGE
from hydrofoil.pool import run

PREFIX = "mutation.webhook.admission.k8s.io/"
MEMORY = "MutatingAdmissionWebhook"


class Memory(Struct):
    """The result of the first round, for the second (`webhookReinvokeContext`)."""

    output: bytes | None = None
    """The object after the webhooks of a round."""
    invoked: set[str] = field(default_factory=set)
    """Webhooks that were called, and that may be called again."""
    due: set[str] = field(default_factory=set)
    """Those of them that have to be called again."""

    def require(self) -> None:
        """Call all those again that were called so far: the object has changed."""
        self.due |= self.invoked
        self.invoked.clear()


class Mutating(Round):
    """One request."""

    kind = "admit"
    mutating = True

    async def run(self, hooks: Sequence[Hook]) -> None:
        """Ask the webhooks that want to be asked. Raise ApiError."""
        if self.a.memory is None:
            self.a.memory = {}
        memory: Memory = self.a.memory.setdefault(MEMORY, Memory())
        if self.a.again and memory.output != self._object():
            memory.require()
        try:
            for index, hook in enumerate(hooks):
                at = await self.wanted(hook)
                if at is None or (self.a.again and hook.key not in memory.due):
                    # A webhook that did not match at first is not called for the first time now.
                    continue
                await self._one(index, hook, at, memory)
        finally:
            memory.output = self._object()

    def _object(self) -> bytes | None:
        return None if self.a.draft is None else self.a.draft.json()

    async def _one(self, index: int, hook: Hook, at: Target, memory: Memory) -> None:
        begun = stopwatch()
        key = f"round_{int(self.a.again)}_index_{index}"
        changed = False
        error: BaseException | None = None
        try:
            changed = await self._change(hook, at, key)
        except FAULTS as e:
            error = e
        self.observe(hook, stopwatch() - begun, error)
        if self.a.audit is not None:
            about = {"configuration": hook.configuration, "webhook": hook.name, "mutated": changed}
            self.a.annotate(PREFIX + key, orjson.dumps(about).decode())
        if changed:
            memory.require()
            self.a.mutated = True
        if hook.again:
            memory.invoked.add(hook.key)
        if isinstance(error, CallFailed):
            self.failed(hook, error, PREFIX + key)
        elif error is not None:
            raise error

    async def _change(self, hook: Hook, at: Target, key: str) -> bool:
        """Call a webhook and apply its patch; report whether the object is another then."""
        reply = await self.ask(hook, at)
        if not reply.patch:
            return False
        operations = await run(_operations, reply, pooled=len(reply.patch) > LARGE)
        if not operations:
            return False
        if self.a.draft is None or self.a.operation == "CONNECT":
            text = f"admission webhook {quote(hook.name)} attempted to modify the object, "
            raise internal(text + "which is not supported for this operation")
        if reply.patch_type != "JSONPatch":
            raise CallFailed(f"unsupported patch type {quote(reply.patch_type)}", 400)
        given, _ = await self.seen.forms(at.kind)
        assert given is not None, "there is a draft"
        try:
            patched = await run(engine.json_patch, given, reply.patch, pooled=len(given) + len(reply.patch) > LARGE)
        except engine.DecodeError as e:
            raise internal(e.message) from None
        if self.a.audit is not None:
            about = {"configuration": hook.configuration, "webhook": hook.name, "patch": operations}
            text = orjson.dumps({**about, "patchType": reply.patch_type}).decode()
            self.a.annotate("patch.webhook.admission.k8s.io/" + key, text)
        try:
            return await Mutation(self.seen).replace(at, patched)
        except NotApplied as e:
            raise internal(str(e)) from None


def _operations(reply: Reply) -> list[object]:
    """Return the operations of a patch. Raise CallFailed."""
    try:
        found = orjson.loads(reply.patch)
    except orjson.JSONDecodeError as e:
        text = _invalid(reply.patch) or str(e)
        if text.startswith("json: cannot unmarshal number"):
            # Upstream finds a number that no float holds in the patched object only.
            raise internal(text) from None
        raise CallFailed(f"received undecodable patch in webhook response: {text}") from None
    if found is None:
        return []
    if not isinstance(found, list):
        kind = {dict: "object", str: "string", bool: "bool"}.get(type(found), "number")
        text = f"json: cannot unmarshal {kind} into Go value of type jsonpatch.Patch"
        raise CallFailed(f"received undecodable patch in webhook response: {text}")
    return found


def _invalid(patch: bytes) -> str:
    """Return Go's words for a text that is no JSON."""
    try:
        engine.json_patch(b"{}", patch)
    except engine.DecodeError as e:
        return e.message
    return ""
