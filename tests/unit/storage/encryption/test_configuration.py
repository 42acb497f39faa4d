"""The file of `--encryption-provider-config`: each refusal has the message of kube-apiserver 1.36.1."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from hydrofoil.storage.encryption.configuration import settings
from hydrofoil.storage.encryption.document import read

HEAD = "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\n"
KEY = base64.b64encode(b"a" * 32).decode()


def refused(text: str, *, reload: bool = False) -> str:
    """Return why a file is refused."""
    with pytest.raises(ValueError) as found:
        settings(text.encode(), "f.yaml", reload=reload)
    line = str(found.value)
    assert "\n" not in line
    return line


def entry(resources: list[str], *providers: Any) -> str:
    """Return a configuration with one entry."""
    return HEAD + "resources: " + json.dumps([{"resources": resources, "providers": providers}])


def kms(**members: Any) -> Any:
    return {"kms": {"apiVersion": "v2", "name": "k", "endpoint": "unix:///run/kms.sock", **members}}


IDENTITY: Any = {"identity": {}}
DECODING = 'error while parsing file: error decoding encryption provider configuration file "f.yaml": '


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("kind: EncryptionConfiguration", "Object 'apiVersion' is missing"),
        ("apiVersion: v1", "Object 'Kind' is missing"),
        (HEAD + "foo: 1\nresources: []", 'strict decoding error: unknown field "foo"'),
        (
            "apiVersion: apiserver.config.k8s.io/v2\nkind: EncryptionConfiguration",
            'no kind "EncryptionConfiguration" is registered for version "apiserver.config.k8s.io/v2"',
        ),
        (entry(["secrets"], kms(timeout="5x")), 'time: invalid duration "5x"'),
        ('{"secret": "c2VjcmV0"', "it is no JSON"),
    ],
)
def test_a_text_that_is_no_configuration(text: str, line: str) -> None:
    assert refused(text) == DECODING + line


def test_types_are_those_of_go() -> None:
    line = refused(HEAD + "resources:\n- resources: secrets\n")
    assert "json: cannot unmarshal string into Go struct field" in line and line.endswith("of type []string")
    other = "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\n"
    text = "error while parsing file: got unexpected config type: apiserver.config.k8s.io/v1"
    assert refused(other) == f"{text}, Kind=AuthorizationConfiguration"


def refusals() -> list[Any]:
    """Return configurations, each with the reason of its refusal."""
    lines = (Path(__file__).parent / "refusals.jsonl").read_text().splitlines()
    return [pytest.param(found["entry"], found["line"], id=found["line"][:60]) for found in map(json.loads, lines)]


@pytest.mark.parametrize(("resources", "line"), refusals())
def test_an_invalid_configuration(resources: Any, line: str) -> None:
    assert refused(f"{HEAD}resources: {json.dumps(resources)}") == f"error while parsing file: {line}"


def test_several_providers_in_one_element_are_shown_without_their_keys() -> None:
    both = {"identity": {}, "aescbc": {"keys": [{"name": "one", "secret": KEY}]}}
    line = refused(entry(["secrets"], both))
    assert KEY not in line
    keys = '{"Keys":[{"Name":"one","Secret":"REDACTED"}]}'
    shown = f'{{"AESGCM":null,"AESCBC":{keys},"Secretbox":null,"Identity":{{}},"KMS":null}}'
    text = "more than one provider specified in a single element, should split into different list elements"
    assert line == f"error while parsing file: resources[0].providers[0]: Invalid value: {shown}: {text}"


def test_version_1_of_plug_ins_is_off() -> None:
    line = refused(entry(["secrets"], {"kms": {"name": "a", "endpoint": "unix:///x"}}))
    assert line.startswith("error while building transformers: KMSv1 is deprecated and will only receive security")
    twice = [{"kms": {"name": "a", "endpoint": "unix:///x", "apiVersion": "v1"}}] * 2
    assert "duplicate KMS provider name a" in refused(entry(["secrets"], *twice), reload=True)


def test_a_configuration_is_given_to_the_engine() -> None:
    keys = {"keys": [{"name": "one", "secret": f"{KEY[:20]}\n{KEY[20:]}"}]}
    text = entry(["secrets", "*.apps"], {"secretbox": keys}, IDENTITY, kms(endpoint="unix:///@k", timeout="1.5s"))
    found = json.loads(settings(text.encode(), "f.yaml", "server"))
    assert found == {
        "server": "server",
        "resources": [
            {
                "resources": ["secrets", "*.apps"],
                "providers": [
                    {"secretbox": [{"name": "one", "secret": KEY}]},
                    "identity",
                    {"kms": {"name": "k", "path": "@k", "timeout": 1.5}},
                ],
            }
        ],
    }
    old = text.replace(HEAD, "apiVersion: v1\nkind: EncryptionConfig\n")
    assert json.loads(settings(old.encode(), "f.yaml", "server")) == found


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "none.yaml"
    text = "error while loading file: error reading encryption provider configuration file"
    with pytest.raises(ValueError, match="no such file") as found:
        read(str(path))
    assert str(found.value) == f'{text} "{path}": open {path}: no such file or directory'
    path.write_bytes(b"")
    with pytest.raises(ValueError, match="is empty") as found:
        read(str(path))
    assert str(found.value) == f'error while loading file: encryption provider configuration file "{path}" is empty'
