"""`hydrofoil replay`: an audit log against another server."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path

from tests.api.data_dirs import BOATS, DEFINITION, MAPS, called
from tests.api.dumps import run, serving

POLICY = "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n- level: %s\n"


def record(folder: Path, level: str) -> Path:
    """Return the log of some requests."""
    (folder / "policy.yaml").write_text(POLICY % level)
    log = folder / "audit.log"
    with serving(f"--audit-policy-file={folder / 'policy.yaml'}", f"--audit-log-path={log}", "--controllers=") as url:
        called(f"{url}/apis/apiextensions.k8s.io/v1/customresourcedefinitions", DEFINITION)
        called(url + BOATS, {"apiVersion": "example.com/v1", "kind": "Boat", "metadata": {"name": "b"}, "color": "red"})
        called(url + MAPS, {"metadata": {"name": "x"}, "data": {"k": "v"}})
        for path, media in ((f"{BOATS}/b", "merge-patch"), (f"{MAPS}/x", "strategic-merge-patch")):
            body, head = b'{"metadata":{"labels":{"a":"b"}}}', {"Content-Type": f"application/{media}+json"}
            urllib.request.urlopen(urllib.request.Request(url + path, body, head, method="PATCH")).close()
        urllib.request.urlopen(f"{url}{MAPS}?watch=1&timeoutSeconds=1").read()
        called(f"{url}{MAPS}/x", method="DELETE")
        lines = 0
        while lines < 7:
            lines = log.read_text().count('"stage":"ResponseComplete"') if log.exists() else 0
    return log


def test_each_request_has_the_same_code_again(tmp_path: Path) -> None:
    log = record(tmp_path, "RequestResponse")
    with serving() as url:
        code, result, _ = run("replay", str(log), "--server", url, "--speed", "max")
        assert (code, result["different"], result["failed"]) == (0, [], [])
        assert result["sent"] == result["same_code"] == log.read_text().count('"stage":"ResponseComplete"')
        assert called(f"{url}{BOATS}/b")["metadata"]["labels"] == {"a": "b"}
        # What is there cannot be created again.
        code, result, _ = run("replay", str(log), "--server", url, "--speed", "max", "--as-user")
        assert code == 1 and {one["code"] for one in result["different"]} == {409}
        first = result["different"][0]
        assert first.keys() == {"line", "verb", "uri", "expected", "code"} and first["verb"] == "create"


def test_writes_without_their_objects_are_named(tmp_path: Path) -> None:
    log = record(tmp_path, "Metadata")
    with serving() as url:
        code, result, _ = run("replay", str(log), "--server", url, "--speed", "1000")
    assert code == 1 and len(result["failed"]) == 6
    assert all("requestObject" in one["reason"] for one in result["failed"])


def test_users_are_acted_as(tmp_path: Path) -> None:
    event = {
        "kind": "Event",
        "stage": "ResponseComplete",
        "verb": "list",
        "requestURI": "/api/v1/pods",
        "user": {"username": "jane", "groups": ["system:authenticated"]},
        "responseStatus": {"code": 200},
        "requestReceivedTimestamp": "2026-11-28T14:00:00Z",
    }
    (tmp_path / "log").write_text(json.dumps(event))
    (tmp_path / "tokens").write_text("t,admin,1,system:masters\n")
    with serving(f"--token-auth-file={tmp_path / 'tokens'}") as url:
        line = ("replay", str(tmp_path / "log"), "--server", url, "--token", "t")
        assert run(*line)[1]["same_code"] == 1
        code, result, _ = run(*line, "--as-user")
        assert (code, result["different"][0]["code"]) == (1, 403)


def test_a_log_that_is_not_there() -> None:
    code, out, err = run("replay", "/nowhere", "--server", "http://127.0.0.1:1")
    assert (code, out, err) == (1, "", "hydrofoil: /nowhere: no such file or directory (hydrofoil replay --help)\n")
    code, _, err = run("replay", "/dev/null", "--server", "http://127.0.0.1:1", "--speed", "fast")
    assert (code, err.count("\n")) == (2, 1)
