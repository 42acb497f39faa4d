"""The flags of etcd."""

from __future__ import annotations

import pytest

from hydrofoil.cli.etcd_flags import BOOLEAN, VALUED, parse_flags


def test_both_spellings() -> None:
    line = [
        "--data-dir",
        "x",
        "--name=a",
        "-listen-client-urls=http://a:1",
        "--unsafe-no-fsync",
        "--force-new-cluster=true",
    ]
    assert parse_flags(line) == {
        "data-dir": "x",
        "name": "a",
        "listen-client-urls": "http://a:1",
        "unsafe-no-fsync": "",
        "force-new-cluster": "true",
    }
    assert not BOOLEAN & VALUED


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (["--no-such-flag=1"], "flag provided but not defined: -no-such-flag"),
        (["--data-dir"], "flag needs an argument: -data-dir"),
        (["word"], "'word' is not a valid flag"),
        (["--"], "'--' is not a valid flag"),
    ],
)
def test_an_unknown_flag_is_named(line: list[str], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        parse_flags(line)
