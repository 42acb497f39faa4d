"""Mutating policies (apiserver `pkg/admission/plugin/policy/mutating/dispatcher.go`)."""

from __future__ import annotations

from collections.abc import Sequence

import orjson
from msgspec import Struct, field

from hydrofoil import engine, errors
from hydrofoil.admission.matching.conditions import OUT_OF_BUDGET, ConditionError
from hydrofoil.admission.matching.target import Target
from hydrofoil.admission.mutation import Mutation, NotApplied
from hydrofoil.admission.policies.params import ConfigurationError, Param
from hydrofoil.admission.policies.policy import Binding, MutatingPolicy
from hydrofoil.admission.policies.round import BUDGET, Round
from hydrofoil.clock import stopwatch
from hydrofoil.engine import Expressions, ResourceType
from hydrofoil.pace.sizes import LARGE
from hydrofoil.pool import run

MEMORY = "MutatingAdmissionPolicy"
Bound = Sequence[tuple[MutatingPolicy, Sequence[Binding]]]
Key = tuple[str, str, str, str]
"""Policy, binding, and namespace and name of the parameter."""


class Failed(Exception):
    """A mutation without a result, for which the failure policy decides."""


class Memory(Struct):
    """The result of the first round, for the second (`policyReinvokeContext`)."""

    output: bytes | None = None
    invoked: set[Key] = field(default_factory=set)
    due: set[Key] = field(default_factory=set)

    def require(self) -> None:
        """Invoke all those again that were invoked so far: the object has changed."""
        self.due |= self.invoked
        self.invoked.clear()


class Invocation(Struct, frozen=True):
    """A policy that covers the request, by one binding and with one parameter."""

    policy: MutatingPolicy
    binding: Binding
    at: Target
    param: Param | None

    @property
    def key(self) -> Key:
        """Return its identity in both rounds."""
        param = self.param
        at = ("", "") if param is None else (param.namespace, param.name)
        return (self.policy.name, self.binding.name, *at)


class Mutating(Round):
    """One request."""

    async def run(self, bound: Bound) -> None:
        """Apply the policies that cover the request, one after the other. Raise ApiError."""
        refused: list[tuple[str, str]] = []
        invocations: list[Invocation] = []
        for policy, bindings in bound:
            invocations += await self._chosen(policy, bindings, refused)
        if invocations:
            await self._invoke(invocations, refused)
        if refused:
            error = self.a.forbidden("admission request denied by policy", [{"message": why} for why, _ in refused])
            error.message, reason = refused[0]
            error.reason = reason or error.reason
            raise error

    async def _chosen(
        self, policy: MutatingPolicy, bindings: Sequence[Binding], refused: list[tuple[str, str]]
    ) -> list[Invocation]:
        """Return the invocations of one policy; add what cannot be configured to the refusals."""
        found: list[Invocation] = []
        try:
            at = self.covered(policy)
            if at is None:
                return found
            resource = None if policy.kind is None else self.parts.params.resource(policy.kind)
        except (ConfigurationError, errors.ApiError) as e:
            if not policy.ignore:
                refused.append((f"policy '{policy.name}' denied request: failed to configure policy: {e}", ""))
            return found
        for binding in bindings:
            try:
                if self.bound(binding):
                    params = await self.parts.params.collect(resource, binding.parameters, self.seen.namespace)
                    found += [Invocation(policy, binding, at, param) for param in params]
            except (ConfigurationError, errors.ApiError) as e:
                if not policy.ignore:
                    refused.append((_denial_text(policy, binding, f"failed to configure binding: {e}"), ""))
        return found

    async def _invoke(self, invocations: Sequence[Invocation], refused: list[tuple[str, str]]) -> None:
        a = self.a
        if a.memory is None:
            a.memory = {}
        memory: Memory = a.memory.setdefault(MEMORY, Memory())
        if a.again and memory.output != self._object():
            memory.require()
        self.namespace()
        dirty = False
        try:
            for each in invocations:
                dirty = await self._one(each, memory, refused) or dirty
            if dirty:
                memory.require()
                a.mutated = True
        finally:
            memory.output = self._object()

    def _object(self) -> bytes | None:
        return None if self.a.draft is None else self.a.draft.json()

    async def _one(self, each: Invocation, memory: Memory, refused: list[tuple[str, str]]) -> bool:
        """Apply the mutations of one policy; report whether one was applied."""
        policy, binding = each.policy, each.binding
        document = None if each.param is None else each.param.document
        if (conditions := policy.conditions()) is not None:
            try:
                holds, _ = await conditions.hold(self.seen, each.at, self.questions, document)
            except ConditionError as e:
                refused.append((_denial_text(policy, binding, str(e)), "Invalid"))
                return False
            if not holds:
                return False
        if self.a.again and each.key not in memory.due:
            return False
        applied = changed = False
        if self.a.draft is not None:
            for (kind, _), expressions in zip(policy.mutations, policy.expressions(), strict=True):
                begun = stopwatch()
                error = "no_error"
                try:
                    changed = await self._mutate(kind, expressions, each) or changed
                    applied = True
                except (Failed, NotApplied) as e:
                    error = "invalid_error"
                    if not policy.ignore:
                        refused.append((_denial_text(policy, binding, str(e)), "Invalid"))
                self.parts.metrics.mutated(policy.name, binding.name, error, stopwatch() - begun)
        if changed:
            memory.require()
            self.a.mutated = True
        if policy.again:
            memory.invoked.add(each.key)
        return applied

    async def _mutate(self, kind: str, expressions: Expressions, each: Invocation) -> bool:
        """Apply one mutation; report whether the object is another then. Raise Failed, NotApplied and ApiError."""
        found, left = await self.evaluate(each.policy, expressions, each.at, each.param, BUDGET)
        if left < 0:
            raise Failed(OUT_OF_BUDGET)
        ((value, why),) = found
        if why is not None or value is None:
            raise Failed(why or "the expression has no result")
        given, _ = await self.seen.forms(each.at.kind)
        assert given is not None, "there is a draft"
        native = self._type(each.at)
        if kind == "JSONPatch":
            patched = await run(_apply_patch, given, value, pooled=len(given) + len(value) > LARGE)
            if patched is None:
                return False
            self._check_strict(each.at, native, patched)
        else:
            at = each.at.kind
            config = {**orjson.loads(value), "apiVersion": at.api_version, "kind": at.kind}
            try:
                patched = await run(native.overlay, given, orjson.dumps(config), pooled=len(given) > LARGE)
            except engine.DecodeError as e:
                raise Failed(f"error applying patch: {e.message}") from None
        return await Mutation(self.seen).replace(each.at, patched)

    def _type(self, at: Target) -> ResourceType:
        """Return the type of the objects of a form."""
        if at.kind.kind == at.resource.kind:
            return at.resource.native
        sub = at.resource.subresources[self.a.subresource]
        return self.parts.registry.catalog.kind(at.kind.group, at.kind.version, at.kind.kind, sub.type_name)

    def _check_strict(self, at: Target, native: ResourceType, patched: bytes) -> None:
        """Check that a patched object of a built-in kind has known members only. Raise ApiError 500."""
        if at.resource.custom:
            return
        try:
            _, strict = native.decode(patched, "json")
        except engine.DecodeError as e:
            raise _internal(e.message) from None
        if strict:
            raise _internal(f"strict decoding error: {errors.strict_text(strict)}")


def _apply_patch(given: bytes, patch: bytes) -> bytes | None:
    """Return an object with a JSON patch applied; None if a test in it fails. Raise Failed."""
    try:
        return engine.json_patch(given, patch)
    except engine.DecodeError as e:
        if e.message.startswith("testing value "):
            return None
        raise Failed(f"JSON Patch: {e.message}") from None


def _denial_text(policy: MutatingPolicy, binding: Binding, why: str) -> str:
    return f"policy '{policy.name}' with binding '{binding.name}' denied request: {why}"


def _internal(text: str) -> errors.ApiError:
    return errors.ApiError(500, "InternalError", f"Internal error occurred: {text}", {"causes": [{"message": text}]})
