"""The flags of `hydrofoil bench`, and its refusals before anything happens."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from hydrofoil.bench import access
from hydrofoil.bench.failure import Stopped
from hydrofoil.bench.options import (
    CASES,
    MORE,
    BenchOptions,
    ServerOptions,
    choose_cases,
    processes,
    rate,
    several,
    within,
)
from hydrofoil.cli.main import main
from hydrofoil.options import Refused
from hydrofoil.outbound.kubeconfig import Access


def test_cases_are_in_their_order_and_all_without_any() -> None:
    assert choose_cases(()) == CASES
    assert choose_cases(("all",)) == (*CASES, *MORE) == choose_cases(("list", "all"))
    assert choose_cases(("watch", "list")) == ("list", "watch")
    with pytest.raises(ValueError, match="lists"):
        choose_cases(("lists",))


def test_values() -> None:
    assert (rate("max"), rate("200"), rate("0.5")) == (0.0, 200.0, 0.5)
    assert several(("a", "b"))("b,a,b") == ("b", "a")
    assert processes("1,2") == ("1", "2")
    for read, text in ((rate, "0"), (several(("a",)), "c"), (several(("a",)), ","), (within(1, 5), "6")):
        with pytest.raises(Refused):
            read(text)


def test_every_option_is_shown_but_no_token() -> None:
    shown = BenchOptions(token="secret", rate=(0.0,)).shown()
    assert shown["token"] == "(given)" and shown["rate"] == "max" and shown["encoding"] == ["json"]
    assert {
        "objects",
        "size",
        "resource",
        "watchers",
        "readers",
        "gzip",
        "duration",
        "namespace",
        "pid",
    } <= shown.keys()
    assert "secret" not in json.dumps(shown)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "no server is named (--server URL or --kubeconfig FILE)"),
        (["--server=http://x", "--kubeconfig=y"], "both --server and --kubeconfig are given"),
        (["--server=http://192.0.2.1"], "http://192.0.2.1 is not on this machine (--yes writes to it)"),
        (["--server=ftp://x"], "'ftp://x' is no URL of a server"),
        (["--server=http://127.0.0.1/path"], "is no URL of a server"),
        (["--kubeconfig=/absent"], "/absent"),
        (["--server=http://127.0.0.1:1", "--pid=999999999"], "no such process"),
        (["--server=http://127.0.0.1:1", "--json=/absent/a.json"], "no such folder"),
        (["--server=http://127.0.0.1:1", "--json=/"], "--json /: is a directory (--json takes a file)"),
        (["--server=http://127.0.0.1:1", "--report=/"], "--report /: is a directory"),
        (["--server=http://127.0.0.1:1", "--namespace=a/b"], '--namespace "a/b" must be a name of lower case letters'),
        (["--server=http://127.0.0.1:1", "--objects=0"], "must be between 1 and 1000000 (hydrofoil bench --help)"),
        (["--server=http://127.0.0.1:1", "--rate=fast"], "--rate"),
        (["--server=http://127.0.0.1:1", "--against=absent-server"], "absent-server is not found"),
        (["lists", "--server=http://127.0.0.1:1"], "no case 'lists' (list?)"),
    ],
)
def test_refusals(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    config = tmp_path / "config"
    config.write_text("never read")
    monkeypatch.setenv("KUBECONFIG", str(config))
    assert main(["bench", *words]) == 2
    out, err = capsys.readouterr()
    assert re.fullmatch(r"hydrofoil: .+ \(.+\)\n", err) and said in err
    assert out == ""


def test_a_server_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "list", "--server=http://127.0.0.1:1"]) == 1
    assert "cannot be reached" in capsys.readouterr().err
    assert main(["bench", "clean", "--server=http://127.0.0.1:1"]) == 1
    assert main(["bench", "clean"]) == 2


@pytest.mark.parametrize(
    ("host", "own"),
    [
        *(("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("localhost", True)),
        *(("10.0.0.1", False), ("localhost.example.com", False), ("0.0.0.0", False)),
    ],
)
def test_loopback(host: str, own: bool) -> None:
    assert access.loopback(host) == own


def test_a_kubeconfig_with_a_program_for_credentials(tmp_path: Path) -> None:
    config = tmp_path / "config"
    script = tmp_path / "login"
    script.write_text('#!/bin/sh\necho "{\\"status\\": {\\"token\\": \\"$WHO\\"}}"\n')
    script.chmod(0o755)
    user = {"exec": {"command": "./login", "env": [{"name": "WHO", "value": "me"}]}}
    document = {
        "current-context": "a",
        "contexts": [{"name": n, "context": {"cluster": "c", "user": n}} for n in ("a", "b")],
        "clusters": [{"name": "c", "cluster": {"server": "https://h:1", "tls-server-name": "s"}}],
        "users": [{"name": "a", "user": user}, {"name": "b", "user": {"token": "other"}}],
    }
    config.write_text(json.dumps(document))
    found = access.find_access(ServerOptions(kubeconfig=str(config)))
    assert (found.url, found.authorization, found.server_name) == ("https://h:1", "Bearer me", "s")
    assert access.find_access(ServerOptions(kubeconfig=str(config), context="b")).authorization == "Bearer other"
    with pytest.raises(Stopped):
        access.find_access(ServerOptions(kubeconfig=str(config), context="c"))
    script.write_text("#!/bin/sh\nexit 1\n")
    with pytest.raises(Stopped, match="gives no credentials"):
        access.find_access(ServerOptions(kubeconfig=str(config)))


def test_certificates_that_cannot_be_read() -> None:
    with pytest.raises(Stopped, match="certificate authority"):
        access.target(Access("https://127.0.0.1:1", b"no PEM", False, b"", b"", "", "", {}, Path()))
    assert access.target(Access("https://[::1]:1", b"", False, b"", b"", "", "", {}, Path())) is not None
