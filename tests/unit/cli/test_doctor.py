"""`hydrofoil doctor`: the forms of its answer, and checks that fail."""

from __future__ import annotations

import json
import resource
import socket
import sys
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

import pytest

from hydrofoil import engine
from hydrofoil.cli import checks, doctor
from hydrofoil.cli.main import main

NAMES = [
    *("python", "native", "uvloop", "port", "open-files", "workers", "ktls", "certificates", "kubectl"),
    "descriptions",
]


def found(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, dict[str, str]]:
    """Return the checks of a command line by their names."""
    main(["doctor", "--json", *words])
    return {one["check"]: one for one in json.loads(capsys.readouterr().out)["checks"]}


def test_the_document_has_all_checks(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    checked = found(capsys, f"--cert-dir={tmp_path}")
    assert list(checked) == NAMES
    assert all(list(one) == ["check", "status", "message", "mend"] for one in checked.values())
    assert {checked[name]["status"] for name in ("python", "native", "uvloop", "certificates")} == {"ok"}


def test_the_number_of_workers_has_its_bounds(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (3000, 3000))
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(8)))
    monkeypatch.setattr("os.sysconf", lambda name: {"SC_AVPHYS_PAGES": 1 << 20}.get(name, 4096))
    assert found(capsys, f"--cert-dir={tmp_path}")["workers"]["message"].endswith("--workers 2"), "descriptors"
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1 << 20, 1 << 20))
    assert found(capsys, f"--cert-dir={tmp_path}")["workers"]["message"].endswith("--workers 8"), "cores"
    monkeypatch.setattr("os.sysconf", lambda name: {"SC_AVPHYS_PAGES": 3 << 16}.get(name, 4096))
    assert found(capsys, f"--cert-dir={tmp_path}")["workers"]["message"].endswith("--workers 3"), "memory"


def test_a_file_takes_the_document_and_the_page_has_a_line_each(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["doctor", f"--json={tmp_path / 'd.json'}", f"--cert-dir={tmp_path}"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in lines] == NAMES
    assert "\x1b" not in "".join(lines)
    assert len(json.loads((tmp_path / "d.json").read_text())["checks"]) == len(NAMES)


def test_a_file_that_cannot_be_written_is_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["doctor", f"--json={tmp_path}"]) == 1
    assert capsys.readouterr().err == f"hydrofoil: cannot write {tmp_path}: Is a directory (--json takes a file)\n"


def test_a_busy_port_is_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as busy:
        one = found(capsys, f"--port={busy.getsockname()[1]}")["port"]
    assert (one["status"], one["mend"]) == ("warn", "hydrofoil serve --port 0")


def test_a_check_that_breaks_off_fails_alone(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_given: object) -> checks.Check:
        raise RuntimeError("no such thing")

    monkeypatch.setitem(checks.CHECKS, "ktls", broken)
    assert main(["doctor", "--json"]) == 1
    text = json.loads(capsys.readouterr().out)["checks"]
    assert [one["message"] for one in text if one["check"] == "ktls"] == ["RuntimeError: no such thing"]
    assert sum(one["status"] == "fail" for one in text) == 1


def test_absent_descriptions_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", absent)
    found = checks.descriptions({})
    assert found.status == "ok" and "pip install 'hydrofoil[docs]'" in found.message


@pytest.mark.parametrize(
    ("hard", "status"), [(1 << 20, "ok"), (20_000, "warn"), (1000, "fail"), (resource.RLIM_INFINITY, "ok")]
)
def test_few_descriptors(hard: int, status: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (256, hard))
    assert checks.open_files({}).status == status


def made(place: Path, at: datetime) -> None:
    """Write a certificate of a server made at a time."""
    now = int(at.timestamp())
    _, key = engine.new_authority(now)
    certificate, own = engine.new_certificate(key.encode(), ["localhost"], None, now)
    (place / "apiserver.crt").write_text(certificate)
    (place / "apiserver.key").write_text(own)
    (place / "apiserver.key").chmod(0o600)


def test_certificates(tmp_path: Path) -> None:
    given = {"cert_dir": str(tmp_path)}
    made(tmp_path, datetime.now(UTC))
    assert checks.certificates(given).status == "ok"
    (tmp_path / "apiserver.key").chmod(0o644)
    assert checks.certificates(given).mend == f"chmod 600 {tmp_path}/*.key"
    made(tmp_path, datetime(2020, 1, 1, tzinfo=UTC))
    assert checks.certificates(given).status == "fail"
    (tmp_path / "apiserver.crt").write_text("x")
    assert checks.certificates(given).mend == f"remove {tmp_path / 'apiserver.crt'}"


@pytest.mark.parametrize(
    ("script", "status"),
    [
        ('echo \'{"clientVersion": {"gitVersion": "v1.36.1", "minor": "36"}}\'', "ok"),
        ('echo \'{"clientVersion": {"gitVersion": "v1.30.0", "minor": "30+"}}\'', "warn"),
        ("exit 1", "warn"),
        ("echo nothing", "warn"),
    ],
)
def test_kubectl(script: str, status: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "kubectl"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert checks.kubectl({}).status == status


def test_no_colour_is_heeded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert doctor.colours()
    monkeypatch.setenv("NO_COLOR", "1")
    assert not doctor.colours()
