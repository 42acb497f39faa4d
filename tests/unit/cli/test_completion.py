"""Scripts of shells, and the words that they are given."""

from __future__ import annotations

import pytest
from click.shell_completion import ShellComplete

from hydrofoil.bench.options import MORE
from hydrofoil.cli.main import group, main


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_asks_this_program(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    assert f"_HYDROFOIL_COMPLETE={shell}_complete" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "incomplete", "offered"),
    [
        ([], "do", ["doctor"]),
        ([], "be", ["bench"]),
        ([], "dat", ["data"]),
        (["data"], "c", ["check", "compact"]),
        (["bench"], "c", ["cached", "compare", "clean"]),
        (["bench", "list", *MORE], "", ["pages", "watch", "fanout", "informers", "writes", "mixed", "all"]),
        (["bench", "list"], "c", ["cached"]),
        (["bench", "compare", "a.json"], "b", ["b"]),
        (["completion"], "", ["bash", "zsh", "fish"]),
        (["doctor"], "", []),
        (["serve"], "--history-w", ["--history-window"]),
        (["serve", "--log-format"], "", ["text", "json"]),
        (["serve", "--profiling"], "f", ["false"]),
        (["serve", "--tls-cert-file"], "a", ["a"]),
        (["bench", "--encoding"], "c", ["cbor"]),
        (["bench", "--encoding"], "json,", ["json,protobuf", "json,cbor", "json,table", "json,metadata"]),
        (["bench", "--encoding"], "json,cb", ["json,cbor"]),
        (["bench", "--pid"], "1", []),
    ],
)
def test_completes(words: list[str], incomplete: str, offered: list[str]) -> None:
    asked = ShellComplete(group(), {}, "hydrofoil", "_HYDROFOIL_COMPLETE")
    assert [item.value for item in asked.get_completions(words, incomplete)] == offered
