"""What a rehearsal says of a definition is what happens when it is put on a server with the same objects."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvloop
from blockbuster import BlockBuster
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hydrofoil import Server
from hydrofoil.cli.rehearse.definition import rehearse_all
from hydrofoil.dumps.order import DumpIndex
from hydrofoil.server.dumped_log import Contents
from hydrofoil.testing.remote_server import RemoteServer
from tests.property.rehearsals import FLAGS, Object, call, create, take_dump

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
BOATS = "/apis/example.com/{}/namespaces/default/boats"
FIELDS = ("color", "size", "crew")
COLORS = st.sampled_from(("red", "green", "blue"))
OBJECT = st.fixed_dictionaries(
    {}, optional={"color": COLORS, "size": st.integers(0, 9), "crew": st.lists(COLORS, max_size=3)}
)
COLOR = st.fixed_dictionaries(
    {"type": st.just("string")},
    optional={"enum": st.just(["red", "green"]), "maxLength": st.just(4), "default": st.just("red")},
)
SIZE = st.fixed_dictionaries({"type": st.just("integer")}, optional={"maximum": st.integers(3, 9)})
CREW = st.fixed_dictionaries(
    {"type": st.just("array"), "items": COLOR}, optional={"maxItems": st.just(1), "minItems": st.just(1)}
)
RULES = st.sampled_from(([], [{"rule": "!has(self.size) || self.size < 6"}], [{"rule": "self.metadata.name != 'b-1'"}]))
SCHEMA = st.builds(
    lambda properties, required, rules: {
        "type": "object",
        "properties": properties,
        **({"required": required} if required else {}),
        **({"x-kubernetes-validations": rules} if rules else {}),
    },
    st.fixed_dictionaries({}, optional={"color": COLOR, "size": SIZE, "crew": CREW}),
    st.lists(st.sampled_from(FIELDS), unique=True, max_size=1),
    RULES,
)
OPEN = {
    "type": "object",
    "properties": {
        "color": {"type": "string"},
        "size": {"type": "integer"},
        "crew": {"type": "array", "items": {"type": "string"}},
    },
}


def definition(schemas: dict[str, Object], storage: str) -> Object:
    versions: list[Object] = [
        {"name": name, "served": True, "storage": name == storage, "schema": {"openAPIV3Schema": schema}}
        for name, schema in schemas.items()
    ]
    names = {"plural": "boats", "kind": "Boat"}
    spec = {"group": "example.com", "scope": "Namespaced", "names": names, "versions": versions}
    head = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
    return {**head, "metadata": {"name": "boats.example.com"}, "spec": spec}


@pytest.fixture(scope="module")
def server() -> Iterator[RemoteServer]:
    """Yield one server for all cases."""
    with Server.in_thread() as server:
        server.apply(definition({"v1": OPEN}, "v1"))
        yield server


@pytest.fixture(autouse=True)
def unguarded(no_blocking: BlockBuster) -> None:
    """Let the test itself wait for another thread."""
    no_blocking.deactivate()


def read(server: RemoteServer, version: str) -> dict[str, Object]:
    code, content = call(server, "GET", BOATS.format(version))
    assert code == 200, content
    return {item["metadata"]["name"]: item for item in content["items"]}


def spec_of(item: Object) -> Object:
    return {name: item[name] for name in FIELDS if name in item}


def names(entries: list[Object]) -> set[str]:
    return {entry["name"] for entry in entries}


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    objects=st.lists(OBJECT, min_size=1, max_size=5),
    schemas=st.fixed_dictionaries({"v1": SCHEMA}, optional={"v2": SCHEMA}),
    stores_second=st.booleans(),
)
def test_a_rehearsal_agrees_with_what_happens(
    server: RemoteServer, tmp_path: Path, objects: list[Object], schemas: dict[str, Object], stores_second: bool
) -> None:
    before = server.snapshot()
    try:
        for number, one in enumerate(objects):
            head = {"apiVersion": "example.com/v1", "kind": "Boat", "metadata": {"name": f"b-{number}"}}
            create(server, BOATS.format("v1"), {**head, **one})
        new = definition(schemas, "v2" if stores_second and "v2" in schemas else "v1")
        contents = take_dump(server, tmp_path)
        report = uvloop.run(rehearse_all(contents, [new], FLAGS))
        alone = uvloop.run(rehearse_all(without_definition(contents), [new], FLAGS))
        (found,), (also,) = report.content["definitions"], alone.content["definitions"]
        for name in ("accepted", "objects", "refused", "tolerated", "loses", "gains", "conversions", "versions"):
            assert also[name] == found[name]
        compare(server, new, found)
    finally:
        server.restore(before)


def without_definition(contents: Contents) -> Contents:
    """Return the objects as kubectl dumps them, without their definition."""
    index = DumpIndex()
    for one in contents.objects.objects():
        if one.kind != "CustomResourceDefinition":
            index.add(one)
    return contents._replace(objects=index)


def compare(server: RemoteServer, new: Object, found: Object) -> None:
    """Make the change, and compare what happens."""
    old = read(server, "v1")
    version = call(server, "GET", f"{CRDS}/boats.example.com")[1]["metadata"]["resourceVersion"]
    body = {**new, "metadata": {**new["metadata"], "resourceVersion": version}}
    code, content = call(server, "PUT", f"{CRDS}/boats.example.com", body)
    assert found["accepted"] == (code == 200), content
    if code != 200:
        assert found["reason"] == content["message"] and found["breaks"]
        return
    server.apply({**new, "metadata": {"name": "boats.example.com"}})
    now = read(server, "v1")
    assert names(found["loses"]) == {n for n, item in old.items() if not is_kept(spec_of(item), spec_of(now[n]))}
    assert names(found["gains"]) == {n for n, item in old.items() if spec_of(now[n]).keys() - spec_of(item).keys()}
    refused, new_refused = {}, set()
    for name, item in now.items():
        changed: Any = {**item, "metadata": {**item["metadata"], "labels": {"touched": "yes"}}}
        code, content = call(server, "PUT", f"{BOATS.format('v1')}/{name}?dryRun=All", changed)
        if code != 200:
            refused[name] = content["message"]
        fresh = {**item, "apiVersion": "example.com/v1", "kind": "Boat", "metadata": {"name": name}}
        if call(server, "POST", f"{BOATS.format('v1')}?dryRun=All", fresh)[0] == 422:
            new_refused.add(name)
    assert {entry["name"]: entry["reason"] for entry in found["refused"]} == refused
    assert found["refused_before"] == []
    assert names(found["tolerated"]) == new_refused - refused.keys()
    stored = call(server, "GET", f"{CRDS}/boats.example.com")[1]["status"]["storedVersions"]
    assert found["versions"]["stored"] == stored
    compare_conversion(server, new, now, found)


def is_kept(before: Object, after: Object) -> bool:
    return all(after.get(name) == value for name, value in before.items())


def compare_conversion(server: RemoteServer, new: Object, now: dict[str, Object], found: Object) -> None:
    """Write each object in the other version as it reads there, and look at it in the first one."""
    conversions = {one["version"]: one for one in found["conversions"]}
    assert conversions.keys() == {v["name"] for v in new["spec"]["versions"]} - {"v1"}
    if "v2" not in conversions:
        return
    lost = {entry["name"] for entry in conversions["v2"]["loses"]}
    for name, item in read(server, "v2").items():
        changed = {**item, "metadata": {**item["metadata"], "labels": {"touched": "yes"}}}
        if call(server, "PUT", f"{BOATS.format('v2')}/{name}", changed)[0] != 200:
            # A write through the API is validated; the rehearsal looks at what is converted alone.
            continue
        back = call(server, "GET", f"{BOATS.format('v1')}/{name}")[1]
        assert (name in lost) == (not is_kept(spec_of(now[name]), spec_of(back)))
