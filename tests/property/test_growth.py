"""No work grows much faster than its input: one request of a few megabytes must not hold the server."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import orjson
import pytest

from hydrofoil import engine
from hydrofoil.apis.catalog import Catalog
from hydrofoil.clock import Chance
from hydrofoil.registry.allocation.ranges import Ports
from tests.property.growth import Clock, Place, Times, findings, places
from tests.shards import CLOCK, Kept

SHARES = 16
"""Into how many tests the places are divided, so that they run side by side."""

# Places and repetitions bound the work; other work on the machine makes it take longer.
pytestmark = pytest.mark.timeout(900)

ITEMS = 250
BYTES = 10_000
REFUSALS = (engine.DecodeError, engine.ApplyConflictError)

CATALOG = Catalog({"api/all": True})
PLACES = list(places())


def through_all(native: engine.ResourceType, whole: bytes, part: bytes) -> Times:
    """Take a body through all steps: read, made, looked at, written, changed, patched and applied."""
    clock = Clock()
    step = clock.step
    given = step("decode", lambda: native.decode(whole, "json"), *REFUSALS)
    if given is None:
        return clock.times
    new = given[0].fork()
    step("owners and defaults", new.read_new(CLOCK, "d", "m").there)
    new.fill_metadata(CLOCK, "x", "u")
    step("prepare and validate", new.prepare(CLOCK).there)
    text = new.json()
    step("encode", new.json)
    step("read yaml", partial(native.decode, engine.json_to_yaml(text), "yaml"), *REFUSALS)
    step("write yaml", lambda: engine.json_to_yaml(text))
    step("read cbor", partial(native.decode, engine.json_to_cbor(text), "cbor"), *REFUSALS)
    message = step("write protobuf", new.protobuf)
    if message is not None:
        step("read protobuf", lambda: native.decode(message, "protobuf"), *REFUSALS)
    shard = Kept(events=1000)
    old = step("store", lambda: shard.create(new))
    if old is None:
        return clock.times
    step("table", lambda: old.body("json:table:v1:None", CLOCK))
    for name, body in (("the same", whole), ("a part", part)):
        draft = native.decode(body, "json")[0]
        step(f"owners and defaults of {name}", draft.read_update(CLOCK, old, "other", "").there)
        step(f"keep metadata of {name}", partial(draft.keep_metadata, old))
        step(f"prepare and validate {name}", draft.prepare(CLOCK, old).there)
        for kind in ("merge", "strategic"):
            step(f"{kind} patch of {name}", partial(old.patch, native, kind, body), *REFUSALS)
        step(f"apply {name}", native.apply(CLOCK, old, body, "third", "", True).there, *REFUSALS)
    step("apply nothing", native.apply(CLOCK, None, whole, "third", "", True).there, *REFUSALS)
    return clock.times


def of_place(place: Place, size: int, *, full: bool) -> Times:
    """Return the times of one place at a size."""
    native = CATALOG.native.resource(place.group, place.version, place.plural)
    size = size * BYTES // ITEMS if place.is_text else size
    return through_all(native, place.body(size, full=full), place.body(size // 2, full=full))


@pytest.mark.parametrize("share", range(SHARES))
def test_no_list_map_or_text_makes_work_grow_faster_than_itself(share: int) -> None:
    found = {}
    for place in PLACES[share::SHARES]:
        fulls = (False,) if place.is_text or "#" not in place.shape else (False, True)
        for full in fulls:
            run: Callable[[int], Times] = partial(of_place, place, full=full)
            if steps := findings(run, ITEMS):
                found[f"{place}, {'full' if full else 'small'} items"] = steps
    assert not found


def timed(name: str, make: Callable[[int], Callable[[], object]]) -> Callable[[int], Times]:
    """One step whose input is made beforehand."""

    def run(size: int) -> Times:
        clock = Clock()
        clock.step(name, make(size), *REFUSALS, ValueError)
        return clock.times

    return run


def custom(schema: dict[str, Any], **spec: Any) -> tuple[engine.Stored, engine.ResourceType]:
    """Return a stored definition and the type of its first version."""
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"plural": "foos", "singular": "foo", "kind": "Foo", "listKind": "FooList"}
    body = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "foos.ex.io"},
        "spec": {"group": "ex.io", "names": names, "scope": "Namespaced", "versions": [version]} | spec,
        "status": {"acceptedNames": names, "storedVersions": ["v1"]},
    }
    native = CATALOG.native.resource("apiextensions.k8s.io", "v1", "customresourcedefinitions")
    draft = native.decode(orjson.dumps(body), "json")[0]
    stored = Kept(events=1000).create(draft)
    return stored, CATALOG.native.custom(stored)[0][1]


TEXT = {"type": "string"}
OPEN = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
ITEM = {"type": "object", "required": ["k"], "properties": {"k": TEXT, "v": TEXT}}
KEYED = {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], "items": ITEM}
CUSTOM = {"type": "object", "properties": {"open": OPEN, "keyed": KEYED, "texts": {"type": "array", "items": TEXT}}}
FOOS = custom(CUSTOM)[1]
OPENS = custom(OPEN)[1]
MAPS = CATALOG.native.resource("", "v1", "configmaps")


def foo(**members: Any) -> bytes:
    """Return a custom resource."""
    return orjson.dumps(
        {"apiVersion": "ex.io/v1", "kind": "Foo", "metadata": {"name": "x", "namespace": "d"}} | members
    )


def of_definition(schema: Callable[[int], dict[str, Any]], size: int) -> Times:
    """Return the times of a definition whose schema has a size: written, and compiled."""
    stored, _ = custom(schema(size))
    clock = Clock()
    draft = stored.thaw()
    clock.step("validate", draft.validate)
    clock.step("update", partial(draft.validate, stored))
    clock.step("prepare and validate", draft.prepare(CLOCK).there)
    clock.step("not structural", lambda: CATALOG.native.nonstructural(stored))
    clock.step("compile", lambda: CATALOG.native.custom(stored))
    return clock.times


def ports(size: int) -> Callable[[], object]:
    found = Ports(1, size, Chance())
    return lambda: [found.free() for _ in range(size)]


def patched(size: int, kind: str, patch: object) -> Callable[[], object]:
    body = foo(open={f"k{i}": i for i in range(size)}, texts=[f"{i}" for i in range(size)])
    shard = Kept(events=1000)
    old = shard.create(FOOS.decode(body, "json")[0])
    return lambda: old.patch(FOOS, kind, orjson.dumps(patch))


def decoded(media: str, native: engine.ResourceType, text: str) -> Callable[[], object]:
    return lambda: native.decode(text.encode(), media)


def members(count: int, key: str = "k{}", value: str = '"v"') -> str:
    return ",".join(f'"{key.format(i)}":{value}' for i in range(count))


def rule(size: int) -> dict[str, Any]:
    properties = {f"p{i}": TEXT for i in range(size)}
    checks = [{"rule": "self.p1 != 'x'"}]
    return {
        "type": "object",
        "properties": {
            "o": {
                "type": "object",
                "properties": properties,
                "required": list(properties),
                "x-kubernetes-validations": checks,
            }
        },
    }


CASES: dict[str, Callable[[int], Times]] = {
    "unknown members of a custom resource": lambda n: through_all(
        FOOS, foo(**{f"u{i}": i for i in range(n)}), foo(**{f"u{i}": i for i in range(n // 2)})
    ),
    "members that no schema names": lambda n: through_all(
        OPENS, foo(**{f"u{i}": i for i in range(n)}), foo(**{f"u{i}": None for i in range(n)})
    ),
    "open members of a custom resource": lambda n: through_all(
        FOOS, foo(open={f"u{i}": i for i in range(n)}), foo(open={f"v{i}": i for i in range(n)})
    ),
    "items by key of a custom resource": lambda n: through_all(
        FOOS,
        foo(keyed=[{"k": f"{i}", "v": "1"} for i in range(n)]),
        foo(keyed=[{"k": f"{i}", "v": "2"} for i in range(n, 0, -1)]),
    ),
    "wrong items of a custom resource": lambda n: through_all(FOOS, foo(texts=list(range(n))), foo(keyed=[1] * n)),
    "members given twice": timed(
        "decode",
        lambda n: decoded(
            "json", MAPS, f'{{"data":{{{members(n)},{members(n)}}},"x":{{{members(n)}}},{members(n, "y{}")}}}'
        ),
    ),
    "a field given often below a long name": timed(
        "decode",
        lambda n: decoded(
            "json",
            MAPS,
            f'{{"metadata":{{"managedFields":[{{{members(n, "manager")}}}]}},"{"k" * n}":{{{members(n, "a")}}}}}',
        ),
    ),
    "keys of YAML given twice": timed("decode", lambda n: decoded("yaml", MAPS, "data:\n" + "  k: v\n" * n)),
    "anchors": timed(
        "decode", lambda n: decoded("yaml", MAPS, "data:\n" + "".join(f"  k{i}: &a{i} v\n" for i in range(n)))
    ),
    "aliases": timed(
        "decode", lambda n: decoded("yaml", MAPS, "data: {a: &a v" + "".join(f", k{i}: *a" for i in range(n)) + "}")
    ),
    "an empty key of a flow": timed("decode", lambda n: decoded("yaml", MAPS, "{" + "a," * n + "}")),
    "a block of lines": timed("decode", lambda n: decoded("yaml", MAPS, "data:\n  a: |\n" + "    x\n" * n)),
    "members taken out": timed("patch", lambda n: patched(n, "merge", {"open": {f"k{i}": None for i in range(n)}})),
    "members put in": timed("patch", lambda n: patched(n, "merge", {"open": {f"n{i}": 1 for i in range(n)}})),
    "operations on members": timed(
        "patch", lambda n: patched(n, "json", [{"op": "remove", "path": f"/open/k{i}"} for i in range(min(n, 9999))])
    ),
    "operations on members and items in turn": timed(
        "patch",
        lambda n: patched(
            n,
            "json",
            [
                {"op": "remove", "path": f"/open/k{i}"} if i % 2 else {"op": "add", "path": "/texts/0", "value": "x"}
                for i in range(min(n, 9999))
            ],
        ),
    ),
    "operations on items": timed(
        "patch",
        lambda n: patched(
            n, "json", [{"op": "add", "path": f"/texts/{n // 2}", "value": "x"} for _ in range(min(n, 9999))]
        ),
    ),
    "properties of a definition": partial(
        of_definition, lambda n: {"type": "object", "properties": {f"p{i}": TEXT for i in range(n)}}
    ),
    "properties that a rule sees": partial(of_definition, rule),
    "values of an enumeration": partial(
        of_definition,
        lambda n: {
            "type": "object",
            "properties": {"e": TEXT | {"enum": [f"v{i}" for i in range(n)], "default": "v1"}},
        },
    ),
    "patterns of a definition": timed(
        "validate",
        lambda n: custom({"type": "object", "properties": {"e": TEXT | {"pattern": "[a:]" * n}}})[0].thaw().validate,
    ),
    "values of a selector": timed(
        "parse", lambda n: lambda: engine.Selector(MAPS, "", f"a in ({','.join(f'v{i}' for i in range(n))})", "")
    ),
    "terms of a selector": timed(
        "parse", lambda n: lambda: engine.Selector(MAPS, "", ",".join(f"k{i}!=v" for i in range(n)), "")
    ),
    "node ports": timed("allocate", ports),
}


@pytest.mark.parametrize("name", CASES)
def test_no_body_makes_work_grow_faster_than_itself(name: str) -> None:
    assert not findings(CASES[name], 4_000)
