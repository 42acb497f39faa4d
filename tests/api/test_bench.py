"""`hydrofoil bench` against servers whose answers are right and wrong."""

from __future__ import annotations

import json
import signal
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hydrofoil import Server
from hydrofoil.bench.options import CASES, ENCODINGS
from hydrofoil.cli.main import main
from hydrofoil.testing.thread import ThreadServer
from tests.api.secure import make
from tests.api.wrong import FAULTS, Proxy, proxy
from tests.conftest import command

SMALL = ("--objects=40", "--size=100", "--watchers=3", "--readers=2", "--duration=200ms", "--rate=max")
PATHS = {
    "list": r"^GET .*/configmaps$",
    "pages": r"^GET .*limit=500",
    "watch": r"^GET .*watch=1&resourceVersion.*metadata.name",
    "fanout": r"^GET .*watch=1&resourceVersion",
    "informers": r"^GET .*sendInitialEvents",
    "mixed": r"^GET .*watch=1&resourceVersion",
}
"""The answers that become wrong."""


@pytest.fixture(scope="module")
def server() -> Iterator[ThreadServer]:
    with Server.in_thread(feature_gates="CBORServingAndStorage=true") as server:
        yield server


def bench(tmp_path: Path, url: str, *words: str, longer: tuple[str, ...] = ()) -> tuple[int, dict[str, Any]]:
    """Run benchmarks; return the exit code and the results. `longer` replaces settings of small ones."""
    file = tmp_path / "results.json"
    code = main(["bench", *words, f"--server={url}", f"--json={file}", *SMALL, *longer])
    return code, json.loads(file.read_text())


def until_wrong(tmp_path: Path, between: Proxy, *words: str, first: int) -> tuple[int, dict[str, Any]]:
    """Run benchmarks, each longer than the one before, until an answer was wrong; return the last outcome.

    The first one takes this many milliseconds. A busy machine may need more.
    """
    for longer in range(first, first + 6000, 500):
        code, found = bench(tmp_path, between.url, *words, longer=(f"--duration={longer}ms",))
        if between.wrong.done:
            return code, found
    raise AssertionError("no answer became wrong")


def namespaces(url: str) -> set[str]:
    """Return the names of all namespaces."""
    with urllib.request.urlopen(f"{url}/api/v1/namespaces") as answer:
        return {item["metadata"]["name"] for item in json.load(answer)["items"]}


@pytest.mark.parametrize("resource", ["configmaps", "pods"])
def test_every_case_in_every_encoding(server: ThreadServer, tmp_path: Path, resource: str) -> None:
    before = namespaces(server.url)
    code, found = bench(tmp_path, server.url, f"--encoding={','.join(ENCODINGS)}", f"--resource={resource}")
    assert [result["error"] for result in found["results"] if result["error"]] == []
    assert (code, found["wrong"], found["left"]) == (0, 0, 0)
    assert [(r["case"], r["encoding"]) for r in found["results"]] == [(c, e) for c in CASES for e in ENCODINGS]
    for result in found["results"]:
        assert result["ops"] > 0 and result["per_second"] > 0 and result["proof"] and result["samples"], result["name"]
    assert namespaces(server.url) == before


@pytest.mark.parametrize("resource", ["configmaps", "pods"])
def test_an_encoding_that_the_server_has_not_is_skipped(tmp_path: Path, resource: str) -> None:
    made = make(tmp_path)
    with Server.in_thread(tls_cert_file=made.cert, tls_private_key_file=made.key) as server:
        file = tmp_path / "results.json"
        words = [f"--server={server.url}", "--insecure-skip-tls-verify", f"--json={file}", *SMALL, "--watchers=100"]
        assert main(["bench", *words, "--encoding=cbor", f"--resource={resource}"]) == 0
        found = json.loads(file.read_text())
    assert [(r["skipped"], r["error"], r["ops"]) for r in found["results"]] == [("406 Not Acceptable", None, None)] * 7
    assert (found["wrong"], found["left"]) == (0, 0)


def test_packed_lists(server: ThreadServer, tmp_path: Path) -> None:
    code, found = bench(tmp_path, server.url, "list", "pages", "--gzip", "--objects=2000", "--size=1000")
    assert (code, [result["gzip"] for result in found["results"]]) == (0, [True, True])
    listed = found["results"][0]
    assert listed["wire_bytes_in"] < listed["ops"] * 1_000_000, "it was not packed"


def test_over_tls_with_the_rights_of_a_token(tmp_path: Path) -> None:
    made = make(tmp_path)
    tokens = tmp_path / "tokens.csv"
    tokens.write_text("secret,tester,1,system:masters\nweak,other,2\n")
    options = {
        "tls_cert_file": made.cert,
        "tls_private_key_file": made.key,
        "authorization_mode": "RBAC",
        "token_auth_file": str(tokens),
        "anonymous_auth": False,
    }
    with Server.in_thread(**options) as server:
        config = tmp_path / "config"
        config.write_text(
            json.dumps(
                {
                    "kind": "Config",
                    "current-context": "a",
                    "contexts": [{"name": "a", "context": {"cluster": "c", "user": "u"}}],
                    "clusters": [
                        {
                            "name": "c",
                            "cluster": {"server": server.url, "certificate-authority": str(made.folder / "ca.crt")},
                        }
                    ],
                    "users": [{"name": "u", "user": {"token": "secret"}}],
                }
            )
        )
        file = tmp_path / "results.json"
        assert main(["bench", f"--kubeconfig={config}", f"--json={file}", *SMALL]) == 0
        assert json.loads(file.read_text())["server"]["transport"] == "tls"
        words = [f"--server={server.url}", "--token=secret", "--insecure-skip-tls-verify"]
        assert main(["bench", "list", *words, f"--json={file}", *SMALL]) == 0
        assert "secret" not in file.read_text()
        assert main(["bench", "list", f"--server={server.url}", "--token=weak", "--insecure-skip-tls-verify"]) == 1
        assert main(["bench", "list", f"--server={server.url}", "--token=secret"]) == 1, "an unknown authority"


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("case", PATHS)
def test_a_wrong_answer_after_right_ones_is_named(
    server: ThreadServer, tmp_path: Path, capsys: pytest.CaptureFixture[str], case: str, encoding: str, fault: str
) -> None:
    number = {"list": 3, "pages": 3, "informers": 50}.get(case, 6)
    with proxy(server.url, fault, PATHS[case], number) as between:
        for longer in ((), ("--duration=10s",)):
            # On a busy machine the short time ends before the wrong answer's turn.
            code, found = bench(tmp_path, between.url, case, "list", f"--encoding={encoding}", longer=longer)
            if between.wrong.done:
                break
        assert between.wrong.done
    wrong = next(result for result in found["results"] if result["case"] == case)
    assert code == 1 and found["wrong"] == 1 and found["left"] == 0
    assert wrong["error"].startswith(f"{case} {encoding}: ") and (
        "bench-0" in wrong["error"] or "churn-0" in wrong["error"]
    )
    assert wrong["error"] in capsys.readouterr().err
    assert all(result["error"] is None for result in found["results"] if result is not wrong)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_an_answer_that_shows_another_write_is_wrong(server: ThreadServer, tmp_path: Path, encoding: str) -> None:
    with proxy(server.url, "lost", r"^(PUT|PATCH) .*churn", 5) as between:
        # The case ends with its wrong answer, however long that takes to come.
        code, found = bench(tmp_path, between.url, "writes", f"--encoding={encoding}", longer=("--duration=100s",))
    assert between.wrong.done
    assert code == 1 and "churn-0" in found["results"][0]["error"]


@pytest.mark.parametrize(
    ("case", "listed", "fault"),
    [
        *((case, "configmaps", fault) for case in ("writes", "mixed") for fault in FAULTS),
        *(("writes", "pods", fault) for fault in (*FAULTS, "version")),
        ("writes", "configmaps", "version"),
    ],
)
def test_the_lists_after_writes_are_checked(
    server: ThreadServer, tmp_path: Path, case: str, listed: str, fault: str
) -> None:
    with proxy(server.url, fault, rf"^GET .*/{listed}\?labelSelector", 0) as between:
        # Writers that keep step may all have deleted their objects at the end: then there is nothing to make wrong.
        code, found = until_wrong(tmp_path, between, case, "--watchers=20", first=1000 if fault == "version" else 200)
    assert (code, found["left"]) == (1, 0)
    error = found["results"][0]["error"]
    assert error.startswith(f"{case} json: ")
    assert any(name in error for name in ("bench-0", "churn-0", "status-0")), error


@pytest.mark.parametrize("number", [0, 12])
@pytest.mark.parametrize("step", ["PUT .*churn", "PATCH .*churn", "PATCH .*status"])
def test_a_write_that_is_acknowledged_and_not_done(
    server: ThreadServer, tmp_path: Path, step: str, number: int
) -> None:
    with proxy(server.url, "undone", rf"^{step}", number) as between:
        code, found = until_wrong(tmp_path, between, "writes", first=1000)
    error = found["results"][0]["error"]
    assert code == 1 and error.startswith("writes json: ") and ("churn-0" in error or "status-0" in error), error


def test_requests_that_are_refused_for_a_while_are_sent_again(server: ThreadServer, tmp_path: Path) -> None:
    with proxy(server.url) as between:
        between.refusals = 30
        code, found = bench(tmp_path, between.url, "list", "watch")
    assert code == 0 and between.refusals == 0
    _, found = bench(tmp_path, server.url, "list")
    assert found["results"][0]["retries_429"] == 0


def test_an_interrupt_cleans_up_and_what_a_kill_leaves_is_cleaned_later(server: ThreadServer) -> None:
    before = namespaces(server.url)
    line = command("bench", "list", f"--server={server.url}", "--objects=300", "--duration=1h")
    for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGKILL, -9)):
        with subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
            deadline = time.monotonic() + 20
            while namespaces(server.url) == before and time.monotonic() < deadline:
                time.sleep(0.02)
            running.send_signal(number)
            assert running.wait(20) == code
        assert (namespaces(server.url) == before) == (number != signal.SIGKILL)
    assert main(["bench", "clean", f"--server={server.url}"]) == 0
    assert namespaces(server.url) == before


def test_a_namespace_that_was_there_stays(server: ThreadServer, tmp_path: Path) -> None:
    code, found = bench(tmp_path, server.url, "--namespace=kube-public")
    assert (code, found["left"]) == (0, 0)
    with urllib.request.urlopen(f"{server.url}/api/v1/namespaces/kube-public/configmaps") as answer:
        assert json.load(answer)["items"] == []
    assert "kube-public" in namespaces(server.url)


def test_a_namespace_that_no_controller_ends_is_ended(tmp_path: Path) -> None:
    with Server.in_thread(controllers="") as server:
        before = namespaces(server.url)
        code, found = bench(tmp_path, server.url, "list", "writes")
        assert (code, found["left"], namespaces(server.url)) == (0, 0, before)


def test_two_servers_that_are_started_here(tmp_path: Path) -> None:
    file, page = tmp_path / "compared.json", tmp_path / "compared.html"
    words = ["--against=hydrofoil", f"--json={file}", f"--report={page}", *SMALL]
    assert main(["bench", "list", *words]) == 0
    found = json.loads(file.read_text())
    assert [run["server"]["transport"] for run in found["runs"]] == ["tls", "tls"]
    assert {row["metric"] for row in found["rows"]} >= {"per_second", "cpu_us_per_op", "rss_mb_peak"}
    assert "<svg" in page.read_text()
    for run in ("hydrofoil", "hydrofoil-(2)"):
        assert json.loads((tmp_path / f"compared-{run}.json").read_text())["wrong"] == 0
