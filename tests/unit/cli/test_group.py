"""The commands by name: help, unknown words, exit codes."""

from __future__ import annotations

import orjson
import pytest

from hydrofoil import __version__
from hydrofoil.cli.main import COMMANDS, group, main


def test_the_help_has_each_command_in_its_section(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    for name, entry in COMMANDS.items():
        assert text.index(f"\n{entry.section}:\n") < text.index(f"\n  {name} ")
    assert "\nExamples:\n" in text


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_is_there(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = group().get_command(None, name)  # type: ignore[arg-type] # no command looks at it
    assert found is not None
    assert found.name == name
    if name != "kubectl":
        assert main([*name.split(), "--help"]) == 0
        assert f"Usage: hydrofoil {name}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["srve"], "no command 'srve' (serve?)"),
        (["zzz"], "no command 'zzz' (hydrofoil --help)"),
        (
            ["data"],
            "data: a command is missing (check, compact, backup, restore, export, import; hydrofoil data --help)",
        ),
        (["data", "chek", "x"], "no command 'data chek' (data check?)"),
        (["--versoin"], "no such option '--versoin'. did you mean '--version'? (hydrofoil --help)"),
        (["doctor", "--prot=1"], "unknown flag: --prot (--port?)"),
        (["doctor", "now"], '"hydrofoil doctor" does not take any arguments, got ["now"] (hydrofoil doctor --help)'),
        (["assets", "a", "b"], "too many arguments: b (hydrofoil assets --help)"),
        (["assets", "--kubectl"], "flag needs an argument: --kubectl (hydrofoil assets --help)"),
        (["completion"], "no shell is named (bash, zsh or fish)"),
        (["completion", "tcsh"], "no shell 'tcsh' (bash, zsh or fish)"),
    ],
)
def test_usage_is_one_line_and_code_2(words: list[str], line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert capsys.readouterr() == ("", f"hydrofoil: {line}\n")


def test_commands_of_one_word_are_described_together(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "--help"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("Usage: hydrofoil data COMMAND")
    names = [name for name in COMMANDS if name.startswith("data ")]
    assert [line.split("  ")[1] for line in shown.splitlines() if line.startswith("  ")] == names


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"hydrofoil {__version__}\n"


def test_an_interrupt_is_code_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_given: object) -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr("hydrofoil.cli.doctor.run_checks", interrupted)
    assert main(["doctor"]) == 130


def test_without_a_word_the_help_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """As cargo and kind do (newcomer 20)."""
    assert main([]) == 0
    assert capsys.readouterr().out.startswith("Usage: hydrofoil")


def test_versions(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["-V"], ["--version"]):
        assert main(words) == 0 and capsys.readouterr().out == f"hydrofoil {__version__}\n"
    assert main(["version"]) == 0 and capsys.readouterr().out.startswith(f"hydrofoil {__version__}\nkubernetes 1.")
    assert main(["version", "--json"]) == 0
    found = orjson.loads(capsys.readouterr().out)
    assert found["version"] == __version__ and found["kubernetes"] == found["emulated"][-1]
