"""Texts of built-in fields, read from the installed package."""

from __future__ import annotations

import ast
import logging
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import orjson
import pytest

from hydrofoil.openapi import descriptions, packed

KINDS = {
    "api/v1": ("io.k8s.api.core.v1.Pod", "io.k8s.api.core.v1.Service"),
    "apis/apps/v1": ("io.k8s.api.apps.v1.Deployment",),
    "apis/networking.k8s.io/v1": ("io.k8s.api.networking.v1.Ingress",),
    "apis/autoscaling/v2": ("io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler",),
}
CORE = '''
@dataclass
class Pod(DictMixin):
    r"""A pod, in a text
      of two lines.

      Second paragraph.

      **parameters**

      * **spec** ``PodSpec`` - The spec: ``code`` - and
        * **bold** in its text.
      * **from_** ``Optional[str]`` - From.
      * **empty** ``str`` -
    """
    spec: 'PodSpec'
    from_: 'Optional[str]' = field(metadata={"json": "from"}, default=None)
    empty: 'str' = None
'''


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Put another package in the place of the installed one; yield the folder of its files."""
    monkeypatch.setattr(descriptions, "folder", lambda: tmp_path)
    forget()
    yield tmp_path
    forget()


def forget() -> None:
    """Forget all texts and documents."""
    descriptions.of_file.cache_clear()
    packed.document.cache_clear()
    packed.hashes.cache_clear()


def schemas(name: str) -> dict[str, Any]:
    """Return the schemas of a document."""
    found = packed.document(name)
    assert found is not None
    document = orjson.loads(found[0])
    made: dict[str, Any] = document["definitions"] if name == "v2" else document["components"]["schemas"]
    return made


@pytest.mark.parametrize("name", [*KINDS, "v2"])
def test_every_field_has_the_text_of_the_package(name: str) -> None:
    """Of the kinds that people ask for, and all that they refer to."""
    made = schemas(name)
    assert name == "v2" or set(KINDS[name]) <= set(made)
    empty = []
    for kind, schema in made.items():
        file, short = descriptions.place(kind)
        told = descriptions.of_file(file).get(short) if file else None
        if told is None:
            continue
        assert schema["description"] == told.text
        for field, shown in schema.get("properties", {}).items():
            if shown.get("description") != told.fields.get(field):
                empty.append((kind, field))
    assert empty == []
    if name != "v2":
        pod_or_other = made[KINDS[name][0]]
        assert set(pod_or_other["properties"]) == {"apiVersion", "kind", "metadata", "spec", "status"}
        assert all(field["description"] for field in pod_or_other["properties"].values())


def test_without_the_package_there_is_no_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(descriptions, "folder", lambda: None)
    forget()
    try:
        pod = schemas("api/v1")["io.k8s.api.core.v1.Pod"]
        assert "description" not in pod
        assert "description" not in pod["properties"]["kind"]
    finally:
        forget()


def test_docstrings() -> None:
    found = dict(descriptions.classes(ast.parse(CORE)))["Pod"]
    assert found.text == "A pod, in a text of two lines.\n\nSecond paragraph."
    assert found.fields == {"spec": "The spec: ``code`` - and * **bold** in its text.", "from": "From."}


def test_a_reference_of_v3_has_no_siblings() -> None:
    ref = {"$ref": "#/a", "default": {}}
    made = {"allOf": [{"$ref": "#/a"}], "description": "x", "default": {}}
    assert descriptions.with_text(ref, "x", v2=False) == made
    assert descriptions.with_text(ref, "x", v2=True) == {**ref, "description": "x"}
    assert descriptions.with_text({"description": "own"}, "x", v2=True) == {"description": "own"}


@pytest.mark.parametrize("content", ["class Pod(:\n", "\x00", None])
def test_a_broken_file_costs_its_own_texts_and_one_line(
    package: Path, content: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    if content is not None:
        (package / "core_v1.py").write_text(content)
    (package / "meta_v1.py").write_text(CORE.replace("class Pod", "class ObjectMeta"))
    with caplog.at_level(logging.WARNING):
        made = schemas("api/v1")
        schemas("v2")
    assert "description" not in made["io.k8s.api.core.v1.Pod"]
    assert made["io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"]["description"].startswith("A pod, in a text")
    lines = [record.getMessage() for record in caplog.records if "core_v1" in record.getMessage()]
    assert len(lines) == 1
    assert lines[0].startswith(f"no descriptions from {package / 'core_v1.py'}: ")


def test_another_release_is_one_line(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    class Older:
        version = "1.20.0.8"

        def locate_file(self, path: str) -> str:
            return f"/x/{path}"

    monkeypatch.setattr(metadata, "distribution", lambda _: Older())
    descriptions.folder.cache_clear()
    try:
        assert descriptions.folder() == Path("/x/lightkube/models")
        assert descriptions.folder() == Path("/x/lightkube/models")
        assert [r.getMessage() for r in caplog.records] == [
            f"{descriptions.PACKAGE} 1.20.0.8 does not describe Kubernetes 1.36.x"
        ]
    finally:
        descriptions.folder.cache_clear()
