"""Settings come from the command line, then the environment, then a file, then the default."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hydrofoil.cli.main import COMMANDS, main
from hydrofoil.cli.serve import COMMAND


def settings(*words: str) -> dict[str, Any]:
    """Return the settings of a command line of `serve`."""
    return COMMAND.settings(COMMAND.make_context("serve", list(words)))[0]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a file with a setting of each form."""
    path = tmp_path / "serve.yaml"
    path.write_text(
        "port: 0\ncontrollers: []\nhistory-window: 5\nrequest-timeout: 1m\nprofiling: false\n"
        "feature-gates: {A: true, B: false}\nservice-account-issuer: [https://a.example, https://b.example]\n"
        "enable-admission-plugins: [AlwaysPullImages, EventRateLimit]\ntls-cert-file:\n"
    )
    return path


def test_a_file_has_values_of_all_forms(file: Path) -> None:
    found = settings("--config", str(file))
    assert (found["port"], found["controllers"], found["history_window"], found["request_timeout"]) == (
        0,
        "",
        5.0,
        60.0,
    )
    assert found["profiling"] is False
    assert found["feature_gates"] == {"A": True, "B": False}
    assert found["service_account_issuers"] == ("https://a.example", "https://b.example")
    assert found["tls_cert_file"] == ""


def test_a_flag_wins_over_a_variable_and_that_over_a_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HYDROFOIL_PORT", "81")
    monkeypatch.setenv("HYDROFOIL_MAX_REQUESTS_INFLIGHT", "7")
    assert settings()["port"] == 81
    found = settings("--config", str(file))
    assert (found["port"], found["max_requests_inflight"], found["history_window"]) == (81, 7, 5.0)
    assert settings("--port=82", "--config", str(file))["port"] == 82


def test_each_name_of_a_flag_is_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HYDROFOIL_BIND_ADDRESS", "::1")
    assert settings()["host"] == "::1"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("port: 0\nprot: 1\n", ':2: no flag "prot" (port?)'),
        ("port: 0\nhost: a\n'port': 1\n", ':3: "port" is there twice (one line for each flag)'),
        ("zzz: 1\n", ':1: no flag "zzz" (hydrofoil serve --help)'),
        (
            "\n'port': x\n",
            ':2: --port: "x" is no whole number (hydrofoil serve --help)',
        ),
        ("{port: 70000}", ":1: --port 70000 must be between 1 and 65535, or 0 for any free port "
         "(hydrofoil serve --help)"),
        ("\nport: [1]\n", ":2: port has one value (such as port: 8080)"),
        ("profiling: {a: true}\n", ":1: profiling has one value (such as profiling: true)"),
        ("history-window: [5s]\n", ":1: history-window has one value (such as history-window: 300.0s)"),
        ("- port\n", ":1: no map (a map of flags without dashes, such as port: 0)"),
    ],
)  # fmt: skip
def test_a_wrong_file_is_one_line_with_its_place(
    tmp_path: Path, text: str, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(text)
    assert main(["serve", "--config", str(path)]) == 2
    assert capsys.readouterr() == ("", f"hydrofoil: {path}{line}\n")


def test_a_file_that_is_no_yaml_or_absent_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("a: 1\n- b\n")
    assert main(["serve", "--config", str(path)]) == 2
    assert main(["serve", "--config", str(tmp_path / "none")]) == 2
    first, second, rest = capsys.readouterr().err.split("\n")
    assert first.startswith(f"hydrofoil: {path}:2: did not find expected key")
    assert first.endswith("(a map of flags without dashes)")
    assert second == f"hydrofoil: {tmp_path / 'none'}: No such file or directory (--config takes a file in YAML)"
    assert rest == ""


def test_a_wrong_variable_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("HYDROFOIL_HISTORY_WINDOW", "never")
    assert main(["serve"]) == 2
    line = '--history-window: "never" is no duration: it must be like 5s, 10m or 1h30m'
    assert capsys.readouterr().err == f"hydrofoil: HYDROFOIL_HISTORY_WINDOW: {line} (hydrofoil serve --help)\n"


def test_shown_settings_are_a_file_of_the_same_settings(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--config", str(file), "--tls-sni-cert-key=a,b:c", "--tls-sni-cert-key=d,e", "--log-format=json"]
    assert main(["serve", *words, "--show-config"]) == 0
    shown = tmp_path / "shown.yaml"
    shown.write_text(capsys.readouterr().out)
    assert "\ncontrollers: []\n" in shown.read_text()
    assert settings("--config", str(shown)) == settings(*words)


def test_the_shown_defaults_are_the_defaults(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--show-config"]) == 0
    shown = tmp_path / "shown.yaml"
    shown.write_text(capsys.readouterr().out)
    assert "port: 8080\n" in shown.read_text()
    assert settings("--config", str(shown)) == settings()


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "kubectl"])
def test_shown_settings_of_each_command_are_shown_again(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "shown.yaml"
    assert main([*name.split(), "--show-config"]) == 0
    path.write_text(capsys.readouterr().out)
    assert main([*name.split(), "--config", str(path), "--show-config"]) == 0
    assert capsys.readouterr().out == path.read_text()


@pytest.mark.parametrize("text", ["yes: true", "'yes': true", '"yes": yes', "yes : on"])
def test_a_flag_whose_name_is_a_boolean_of_yaml(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bench.yaml"
    path.write_text(f"objects: 5\n{text}\n")
    assert main(["bench", "--config", str(path), "--show-config"]) == 0
    assert "\nyes: true\n" in capsys.readouterr().out
