"""Plain words in comments, docstrings and documents: the terms of Kubernetes instead of idioms of our own."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT

ANYWHERE: dict[str, str] = {
    r"\b(?:un)?told\b": "reported, returned, described",
    r"\btells?\b": "return, report, describe, show",
    r"\b(?:say|says|said|saying)\b": "state, report, read, specify",
    r"(?<!there )\b(?:is|are|was|were) (?-i:none)\b": "invalid, absent, is not a ...",
    r"\bwho(?:m|ever)\b": "the caller, the client, any user",
    r"(?<!user )(?<!users )(?<!people )(?<!those )(?<!all )(?<!you )\bwho\b": "the caller, the client, the user who",
    r"\b(?:of|for|by|to|with|than|from|and|like|beside|into|before|after|at) what\b": "the noun itself",
    r"\b(?:some|any|no)body\b": "a client, a user, nothing",
    r"\(0: (?:none|unlimited)\)": "unlimited if 0",
    r"\b(?:is|are) about\b(?! to\b)": "concerns, covers",
    r"\bgoes\b": "is removed, is sent, continues",
    r"\bstands?\b(?! (?:for|still)\b)": "is",
    r"\bcomes\b(?! from\b)": "arrives, follows, is",
    r"\bmade[- ]up\b": "generated",
    r"\blets? (?:\w+ ){0,4}go\b": "release, close",
    r"\bworks? off\b(?! the loop\b)": "process",
    r"\btak(?:e|es|en|ing) hold of\b": "read, keep",
    r"\bas far as one knows\b": "as far as is known",
    r"\bin upstream's words\b": "with upstream's message",
}
"""Patterns, and the words to use instead."""

FIRST: dict[str, str] = {
    r"What": "a noun phrase: the object, request, body, version",
    r"Has|Have|Had": "the verb itself: Convert, Make, Run",
    r"Returns|Raises|Gives|Takes|Tells|Shows|Holds|Does|Makes|Converts|Deletes": "the imperative, or a noun phrase",
}
"""First words of a sentence, and the words to use instead."""

RULES = [
    *((re.compile(pattern, re.IGNORECASE), use) for pattern, use in ANYWHERE.items()),
    *((re.compile(rf"(?:^|(?<=[.;:] ))(?:{pattern})\b"), use) for pattern, use in FIRST.items()),
]

SUSPECT = re.compile("|".join(f"(?:{rule.pattern})" for rule, _ in RULES), re.IGNORECASE)
"""A pattern of every text that breaks a rule, and of some others: one search instead of one for each rule."""

PYTHON = ["python", "tests", "tools", "bench"]
SKIPPED = {"__pycache__", ".venv", "target"}

DOCUMENTS_LATER: set[str] = set()
"""Documents that are not revised yet."""

GENERATED = {"flags.md"}
"""Documents made from strings of the code."""

RUST_LATER: set[str] = set()
"""Crates whose comments are not revised yet."""

Text = tuple[int, str]
"""A line number and the text of the line, without the marks of a comment."""

QUOTED = re.compile(r"`[^`]*`|\"[^\"]*\"|https?://\S+|\]\([^)]*\)")


def words(lines: list[Text]) -> Iterator[tuple[int, str, str]]:
    """Yield line, word and the words to use instead; quotations and code are left out."""
    for number, line in lines:
        text = QUOTED.sub("''", line.strip())
        if not SUSPECT.search(text):
            continue
        for rule, use in RULES:
            for match in rule.finditer(text):
                yield number, match[0], use


def python_texts(source: str) -> list[Text]:
    """Return comments and docstrings, those of attributes included."""
    lines = source.splitlines()
    found: list[Text] = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            found.append((token.start[0], token.string.lstrip("# ")))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            for number in range(node.lineno, (node.end_lineno or node.lineno) + 1):
                found.append((number, lines[number - 1].strip().strip('"')))
    return sorted(found)


def rust_texts(source: str) -> list[Text]:
    """Return the text of lines that are comments, and of comments after code."""
    found: list[Text] = []
    for number, line in enumerate(source.splitlines(), 1):
        match = re.match(r"\s*//[/!]?(.*)$", line) or re.search(r"[;,{})] // (.*)$", line)
        if match:
            found.append((number, match[1].strip()))
    return found


def markdown_texts(source: str) -> list[Text]:
    """Return all lines outside of code blocks."""
    found: list[Text] = []
    code = False
    for number, line in enumerate(source.splitlines(), 1):
        if line.lstrip().startswith("```"):
            code = not code
        elif not code:
            found.append((number, line))
    return found


def test_texts_are_found() -> None:
    source = '"""Says."""\nX = 1  # told\n"""Who."""\ntext = "told"\n'
    assert [word for _, word, _ in words(python_texts(source))] == ["Says", "told", "Who"]
    assert rust_texts('let a = "// told"; // told\n/// It `says`.') == [(1, "told"), (2, "It `says`.")]
    assert [word for _, word, _ in words(markdown_texts("told\n```\ntold\n```\n"))] == ["told"]


@pytest.mark.parametrize(
    "text", ["There is none.", "The user who asks.", "It comes from there.", "It is about to end.", "`told`", '"says"']
)
def test_plain_words_pass(text: str) -> None:
    assert list(words([(1, text)])) == []


def wrong(path: Path, lines: list[Text]) -> list[str]:
    return [f"{path.relative_to(ROOT)}:{number}: {word!r}: use {use}" for number, word, use in words(lines)]


def files(folder: str, *suffixes: str) -> list[Path]:
    return [
        path
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in suffixes and not SKIPPED.intersection(path.relative_to(ROOT).parts)
    ]


def crates() -> list[str]:
    return sorted(path.parent.name for path in (ROOT / "rust").glob("*/Cargo.toml"))


@pytest.mark.parametrize("folder", PYTHON)
def test_comments_of_python(folder: str) -> None:
    found = [
        line for path in files(folder, ".py", ".pyi") for line in wrong(path, python_texts(path.read_text("utf-8")))
    ]
    assert found == [], "\n".join(found)


def test_documents() -> None:
    paths = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
    paths = [path for path in paths if path.name not in DOCUMENTS_LATER | GENERATED]
    found = [line for path in paths for line in wrong(path, markdown_texts(path.read_text("utf-8")))]
    assert found == [], "\n".join(found)


@pytest.mark.parametrize("crate", crates())
def test_comments_of_rust(crate: str) -> None:
    if crate in RUST_LATER:
        return
    paths = [*files(f"rust/{crate}/src", ".rs"), *files(f"rust/{crate}/tests", ".rs")]
    found = [line for path in paths for line in wrong(path, rust_texts(path.read_text("utf-8")))]
    assert found == [], "\n".join(found)
