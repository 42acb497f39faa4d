"""Objects that are encrypted at rest (apiserver `pkg/storage/value`, `pkg/server/options/encryptionconfig`)."""

from __future__ import annotations

import json
import os
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hydrofoil.cli.main import main
from tests.api.data_dirs import called, events, failed, served
from tests.api.keys import IDENTITY, aes, configured, kms, plugin
from tests.conftest import command

SECRETS = "/api/v1/namespaces/default/secrets"
MAPS = "/api/v1/namespaces/default/configmaps"
MARKER = "plaintext-marker"
FLAG = "--encryption-provider-config"
RELOAD = "--encryption-provider-config-automatic-reload"


def secret(name: str) -> Any:
    return {"metadata": {"name": name, "labels": {"of": MARKER}}, "stringData": {"k": MARKER}}


def message(url: str, body: Any = None, method: str | None = None) -> tuple[int, str]:
    status = failed(url, body, method)
    return status["code"], status["message"]


def patched(url: str) -> Any:
    """Return the answer to a patch that changes nothing."""
    request = urllib.request.Request(url, b"{}", {"Content-Type": "application/merge-patch+json"}, method="PATCH")
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.loads(answer.read())


def text(url: str) -> str:
    """Return the text of an answer of any status."""
    try:
        with urllib.request.urlopen(url, timeout=20) as answer:
            found: bytes = answer.read()
    except urllib.error.HTTPError as error:
        with error:
            found = error.read()
    return found.decode()


def until(done: Callable[[], bool]) -> None:
    """Wait for a state."""
    begun = time.monotonic()
    while not done():
        assert time.monotonic() - begun < 40, "it takes too long"


def marked(place: Path) -> list[str]:
    """Return the files that have an object in clear."""
    files = [place] if place.is_file() else list(place.iterdir())
    # Labels are in their own form beside the JSON, whose data is in base64.
    return [
        file.name for file in files if MARKER.encode() in file.read_bytes() or b"cGxhaW50ZXh0LW1h" in file.read_bytes()
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "keys.yaml"


@pytest.mark.parametrize("kind", ["aescbc", "aesgcm", "secretbox"])
def test_nothing_is_in_clear_in_a_folder_or_backup(folder: Path, file: Path, kind: str, tmp_path: Path) -> None:
    configured(file, (["secrets"], [aes("a", kind)]))
    backup = tmp_path / "backup"
    with served(folder, FLAG, str(file)) as url:
        called(url + SECRETS, secret("a"))
        revision = called(url + SECRETS, secret("b"))["metadata"]["resourceVersion"]
        called(f"{url}{SECRETS}/b", method="DELETE")
        assert not marked(folder)
        assert main(["data", "backup", str(folder), str(backup)]) == 0
        assert not marked(backup)
        pages = text(f"{url}/statusz") + text(f"{url}/flagz") + text(f"{url}/metrics")
        assert "YWFhYWFh" not in pages
        counted = f'transformation_type="to_storage",transformer_prefix="k8s:enc:{kind}:v1:"'
        assert (
            f'apiserver_storage_transformation_operations_total{{resource="secrets",status="OK",{counted}}} 2' in pages
        )
    with served(folder, FLAG, str(file)) as url:
        assert called(f"{url}{SECRETS}/a")["metadata"]["labels"] == {"of": MARKER}
        assert events(f"{url}{SECRETS}?watch=1&resourceVersion={revision}", 1) == [("DELETED", "b")]
    assert main(["data", "compact", str(folder)]) == 0
    assert not marked(folder)


def test_a_replacement_without_a_change_migrates(folder: Path, file: Path) -> None:
    """As `kubectl get secrets -o json | kubectl replace -f -` does after each change of keys."""
    with served(folder) as url:
        clear = called(url + SECRETS, secret("a"))
        same = called(f"{url}{SECRETS}/a", clear, "PUT")
        assert same["metadata"]["resourceVersion"] == clear["metadata"]["resourceVersion"]
    assert marked(folder)
    configured(file, (["secrets"], [aes("a"), IDENTITY]))
    with served(folder, FLAG, str(file)) as url:
        old = called(f"{url}{SECRETS}/a")
        assert old == clear
        migrated = called(f"{url}{SECRETS}/a", old, "PUT")
        assert migrated["metadata"]["resourceVersion"] != old["metadata"]["resourceVersion"]
        assert migrated["data"] == old["data"]
        again = called(f"{url}{SECRETS}/a", migrated, "PUT")
        assert again == migrated, "its stored form is the present one"
        assert patched(f"{url}{SECRETS}/a") == migrated
    configured(file, (["secrets"], [aes("c", "aesgcm"), aes("a")]))
    with served(folder, FLAG, str(file)) as url:
        old = migrated
        migrated = patched(f"{url}{SECRETS}/a")
        assert migrated["metadata"]["resourceVersion"] != old["metadata"]["resourceVersion"]
    configured(file, (["secrets"], [aes("b", "secretbox"), aes("c", "aesgcm")]))
    with served(folder, FLAG, str(file)) as url:
        rotated = called(f"{url}{SECRETS}/a", migrated, "PUT")
        assert rotated["metadata"]["resourceVersion"] != migrated["metadata"]["resourceVersion"]
        assert called(f"{url}{SECRETS}/a", rotated, "PUT") == rotated
    configured(file, (["secrets"], [aes("b", "secretbox")]))
    with served(folder, FLAG, str(file)) as url:
        assert called(f"{url}{SECRETS}/a") == rotated, "the key of before is not needed"
        assert len(called(url + SECRETS)["items"]) == 1


def test_a_replacement_without_a_change_has_the_stored_version_of_the_definition(folder: Path) -> None:
    def versions(stored: str) -> list[Any]:
        schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
        return [{"name": name, "served": True, "storage": name == stored, "schema": schema} for name in ("v1", "v2")]

    names = {"plural": "boats", "kind": "Boat"}
    spec = {"group": "example.com", "scope": "Namespaced", "names": names, "versions": versions("v1")}
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    boats = "/apis/example.com/v1/namespaces/default/boats"
    with served(folder) as url:
        called(url + definitions, {"metadata": {"name": "boats.example.com"}, "spec": spec})
        boat = called(url + boats, {"apiVersion": "example.com/v1", "kind": "Boat", "metadata": {"name": "a"}})
        assert called(f"{url}{boats}/a", boat, "PUT") == boat
        definition = called(f"{url}{definitions}/boats.example.com")
        definition["spec"]["versions"] = versions("v2")
        called(f"{url}{definitions}/boats.example.com", definition, "PUT")
        migrated = called(f"{url}{boats}/a", boat, "PUT")
        assert migrated["metadata"]["resourceVersion"] != boat["metadata"]["resourceVersion"]
        assert called(f"{url}{boats}/a", migrated, "PUT") == migrated


def test_without_its_key_a_resource_is_500_and_nothing_is_lost(folder: Path, file: Path) -> None:
    """GET has the message that kube-apiserver has; lists and watches name the first key, where it answers 429."""
    configured(file, (["secrets", "configmaps"], [aes("a", "aesgcm")]))
    with served(folder, FLAG, str(file)) as url:
        before = called(url + SECRETS, secret("a"))
        called(url + SECRETS, secret("b"))
        called(url + MAPS, {"metadata": {"name": "a"}})
    configured(file, (["secrets"], [aes("b")]), (["configmaps"], [aes("a", "aesgcm")]))
    why = "no matching prefix found"
    listed = f'unable to transform key "/registry/secrets/default/a": {why}'
    with served(folder, FLAG, str(file)) as url:
        assert called(f"{url}{MAPS}")["items"], "others are readable"
        one = failed(f"{url}{SECRETS}/a")
        assert (one["code"], one["reason"]) == (500, "InternalError")
        assert one["message"] == f"Internal error occurred: {why}"
        assert one["details"] == {"causes": [{"message": why}]}
        for path in (
            SECRETS,
            f"{SECRETS}?watch=1",
            f"{SECRETS}?limit=1",
            "/api/v1/secrets",
            f"{SECRETS}?resourceVersion=0",
        ):
            assert message(url + path) == (500, f"Internal error occurred: {listed}")
        assert message(f"{url}{SECRETS}", method="DELETE") == (500, f"Internal error occurred: {listed}")
        refused = (500, f"Internal error occurred: {why}")
        assert message(f"{url}{SECRETS}/a", method="DELETE") == refused
        assert message(f"{url}{SECRETS}/a", secret("a"), "PUT") == refused
        assert message(f"{url}{SECRETS}/none") == (404, 'secrets "none" not found')
        assert message(url + SECRETS, secret("a")) == (409, 'secrets "a" already exists')
        assert called(url + SECRETS, secret("c"))["metadata"]["name"] == "c"
        assert called(f"{url}{SECRETS}/c")["metadata"]["name"] == "c"
        assert called(f"{url}/api/v1/namespaces/default")["metadata"]["name"] == "default"
    assert main(["data", "compact", str(folder)]) == 0
    configured(file, (["secrets"], [aes("b"), aes("a", "aesgcm")]), (["configmaps"], [aes("a", "aesgcm")]))
    with served(folder, FLAG, str(file)) as url:
        assert called(f"{url}{SECRETS}/a") == before
        assert [item["metadata"]["name"] for item in called(url + SECRETS)["items"]] == ["a", "b", "c"]


def test_a_server_without_any_key_starts(folder: Path, file: Path) -> None:
    configured(file, (["*.*"], [aes("a", "secretbox")]))
    with served(folder, FLAG, str(file)) as url:
        before = called(f"{url}{SECRETS}", secret("a"))
        roles = len(called(f"{url}/apis/rbac.authorization.k8s.io/v1/clusterroles")["items"])
    with served(folder) as url:
        assert text(f"{url}/livez") == "ok"
        shown = (
            'unable to transform key "/registry/namespaces/default": identity transformer tried to read encrypted data'
        )
        assert message(f"{url}/api/v1/namespaces") == (500, f"Internal error occurred: {shown}")
    with served(folder, FLAG, str(file)) as url:
        assert called(f"{url}{SECRETS}/a") == before
        assert len(called(f"{url}/apis/rbac.authorization.k8s.io/v1/clusterroles")["items"]) == roles


def test_a_changed_file_is_read_again(folder: Path, file: Path) -> None:
    configured(file, (["secrets"], [aes("a")]))
    with served(folder, FLAG, str(file)) as url:
        old = called(url + SECRETS, secret("a"))
    configured(file, (["secrets"], [aes("b")]))
    with served(folder, FLAG, str(file), RELOAD) as url:
        assert text(f"{url}/healthz/kms-providers") == "ok", "another file may name a plug-in"
        assert message(f"{url}{SECRETS}/a")[0] == 500
        file.write_text("kind: nothing")
        reloads = "apiserver_encryption_config_controller_automatic_reloads_total{"
        until(lambda: 'status="failure"' in text(f"{url}/metrics").partition(reloads)[2].partition("\n")[0])
        called(url + SECRETS, secret("b"))
        configured(file, (["secrets"], [aes("c"), aes("b"), aes("a")]))
        until(lambda: 'status="success"' in text(f"{url}/metrics"))
        until(lambda: "items" in json.loads(text(url + SECRETS)))
        assert called(f"{url}{SECRETS}/a") == old, "it is as it was"
        for name in "ab":
            found = called(f"{url}{SECRETS}/{name}")
            migrated = called(f"{url}{SECRETS}/{name}", found, "PUT")
            assert migrated["metadata"]["resourceVersion"] != found["metadata"]["resourceVersion"]
            assert called(f"{url}{SECRETS}/{name}", migrated, "PUT") == migrated
    configured(file, (["secrets"], [aes("c")]))
    with served(folder, FLAG, str(file)) as url:
        assert [item["metadata"]["name"] for item in called(url + SECRETS)["items"]] == ["a", "b"]


def test_a_plug_in_encrypts_keys(folder: Path, file: Path, tmp_path: Path) -> None:
    socket = Path(f"/tmp/hydrofoil-{os.getpid()}-{tmp_path.name[-8:]}.sock")
    configured(file, (["secrets"], [kms(socket)]))
    with plugin(socket) as found, served(folder, FLAG, str(file)) as url:
        old = called(url + SECRETS, secret("a"))
        assert text(f"{url}/readyz/kms-providers") == "ok"
        assert "kms-providers" not in text(f"{url}/livez?verbose") and not marked(folder)
        found.health = "bad"
        until(lambda: "got unexpected healthz status: bad" in text(f"{url}/healthz/kms-providers"))
        shown = text(f"{url}/healthz/kms-providers")
        assert shown.startswith("internal server error: kms-provider-0: kmsv2 Provider kms is not healthy, error: ")
        assert "[-]kms-providers failed" in text(f"{url}/readyz?verbose")
        assert called(f"{url}{SECRETS}/a") == old
        metrics = text(f"{url}/metrics")
        assert (
            'kms_operations_latency_seconds_count{grpc_status_code="OK",method_name="/v2.KeyManagementService/E'
            in metrics
        )
    with served(folder, FLAG, str(file)) as url:
        why = "got unexpected nil transformer"
        assert message(f"{url}{SECRETS}/a") == (500, f"Internal error occurred: {why}")
        assert message(url + SECRETS, secret("b")) == (500, f"Internal error occurred: {why}")
        with plugin(socket):
            until(lambda: "items" in json.loads(text(url + SECRETS)))
            assert called(f"{url}{SECRETS}/a") == old, "the plug-in came late"
            called(url + SECRETS, secret("b"))
    with plugin(socket), served(folder, FLAG, str(file)) as url:
        assert called(f"{url}{SECRETS}/a") == old
        assert called(f"{url}{SECRETS}/a", old, "PUT") == old


@pytest.mark.parametrize(
    ("flags", "line"),
    [
        ((RELOAD,), f"{RELOAD} must be set with {FLAG}"),
        ((FLAG, "FILE"), "error while parsing file: resources: Required value: at least one resources is required"),
        ((FLAG, "NONE"), "error while parsing file: error while loading file: error reading encryption provider"),
        ((FLAG, "MASKED"), 'error while building transformers: resource "secrets" is masked by earlier rule "*."'),
    ],
)
def test_a_configuration_that_is_refused_ends_the_start(
    folder: Path, tmp_path: Path, flags: tuple[str, ...], line: str
) -> None:
    configured(tmp_path / "FILE")
    configured(tmp_path / "MASKED", (["*."], [IDENTITY]), (["secrets"], [IDENTITY]))
    words = [str(tmp_path / flag) if flag.isupper() else flag for flag in flags]
    for place in ([], ["--data-dir", str(folder)]):
        ended = subprocess.run(
            command("serve", "--port", "0", *place, *words), check=False, capture_output=True, text=True, timeout=30
        )
        assert (ended.returncode, ended.stderr.count("\n")) == (1, 1)
        assert ended.stderr.startswith(f"hydrofoil: {line}")
    assert not folder.exists()


def test_a_new_folder_needs_its_plug_in_at_the_start(folder: Path, file: Path, tmp_path: Path) -> None:
    configured(file, (["*.*"], [kms(tmp_path / "none")]))
    args = command("serve", "--port", "0", "--data-dir", str(folder), FLAG, str(file))
    ended = subprocess.run(args, check=False, capture_output=True, text=True, timeout=30)
    why = "Internal error occurred: got unexpected nil transformer"
    assert (ended.returncode, ended.stderr) == (1, f"hydrofoil: cannot create the first objects: {why}\n")


def test_commands_work_with_and_without_keys(
    folder: Path, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    configured(file, (["secrets"], [aes("a")]))
    with served(folder, FLAG, str(file)) as url:
        made = called(url + SECRETS, secret("a"))
    lines, again, other = tmp_path / "lines", tmp_path / "again", tmp_path / "other"
    assert main(["data", "check", str(folder)]) == 0
    assert main(["data", "export", str(folder), str(lines)]) == 1
    why = 'unable to transform key "/registry/secrets/default/a": identity transformer tried to read encrypted data'
    assert capsys.readouterr().err == f"hydrofoil: {folder}: {why} (hydrofoil data export --help)\n"
    assert main(["data", "export", str(folder), str(lines), FLAG, str(file)]) == 0
    assert MARKER in lines.read_text()
    assert main(["data", "import", str(lines), str(again), FLAG, str(file)]) == 0
    assert not marked(again)
    other_key = configured(tmp_path / "other.yaml", (["secrets"], [aes("b")]))
    assert main(["data", "check", str(folder), FLAG, str(other_key)]) == 1
    both = configured(tmp_path / "both.yaml", (["secrets"], [aes("b", "aesgcm"), aes("a")]))
    backup = tmp_path / "backup"
    assert main(["data", "backup", str(folder), str(backup), FLAG, str(both)]) == 0
    assert main(["data", "restore", str(backup), str(other)]) == 0
    assert not marked(backup) and not marked(other)
    configured(file, (["secrets"], [aes("b", "aesgcm")]))
    with served(other, FLAG, str(file)) as url:
        assert called(f"{url}{SECRETS}/a") == made, "the backup has the new key only"
    assert main(["data", "check", str(folder), FLAG, str(tmp_path / "none")]) == 1
    assert "no such file or directory" in capsys.readouterr().err
