"""Records by the rules of Go's `encoding/csv`."""

from __future__ import annotations

import pytest

from hydrofoil.authentication.csv import CsvError, records


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("a,b,c\n", [["a", "b", "c"]]),
        ("a,b\r\n\r\n\nc", [["a", "b"], ["c"]]),
        (' a , b \n"x, y","say ""hi"""', [[" a ", " b "], ["x, y", 'say "hi"']]),
        ('"two\nlines",b', [["two\nlines", "b"]]),
        ('"",', [["", ""]]),
        ("# no comment,b", [["# no comment", "b"]]),
    ],
)
def test_records(text: str, expected: list[list[str]]) -> None:
    assert list(records(text)) == expected


@pytest.mark.parametrize("text", ['a"b,c', '"a"b,c', '"open', 'a,"b"c'])
def test_stray_quotes_are_errors(text: str) -> None:
    with pytest.raises(CsvError, match="parse error on line 1"):
        list(records(text))
