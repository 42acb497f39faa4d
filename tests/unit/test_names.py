"""Functions are verbs in the imperative, or the noun that they return; a lone participle hides both."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.conftest import ROOT

PYTHON = 30
"""The ceiling at the level of modules; `established` and the like are adjectives of upstream."""
RUST = 28
"""The ceiling in all crates, which only falls."""
PARTICIPLE = re.compile(
    r"\w*ed|begun|born|bound|broken|brought|built|chosen|dealt|done|drawn|fed|found|frozen|given|gone|grown|heard|held|"
    r"hidden|kept|known|laid|led|left|lent|lost|made|meant|met|paid|said|seen|sent|shown|spent|stuck|swept|taken|taught|"
    r"thrown|told|torn|understood|wound|written"
)
VERB = re.compile(r"embed|exceed|feed|need|proceed|seed|shed|speed|succeed")
"""Words that are verbs or nouns all the same."""


def is_participle(name: str) -> bool:
    """Report whether a name is one word that is a participle."""
    word = name.lstrip("_")
    return "_" not in word and bool(PARTICIPLE.fullmatch(word)) and not VERB.fullmatch(word)


def python_names() -> Iterator[str]:
    """Yield the functions of modules with such a name that return no bool."""
    for path in sorted((ROOT / "python" / "hydrofoil").rglob("*.py")):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and is_participle(node.name):
                returns = "" if node.returns is None else ast.unparse(node.returns)
                if returns != "bool":
                    yield f"{path.relative_to(ROOT)}:{node.lineno}: {node.name}"


FUNCTION = re.compile(r"\bfn (\w+)[^{;]*?(?:-> ([^{;]*?))?(?: where [^{;]*)?[{;]")


def rust_names(source: str) -> Iterator[str]:
    """Yield the functions of a file with such a name that return no bool."""
    for match in FUNCTION.finditer(source):
        if is_participle(match[1]) and (match[2] or "").strip() != "bool":
            yield match[1]


def test_participles_are_found() -> None:
    assert is_participle("_shown") and is_participle("merged") and not is_participle("merge_lists")
    assert not is_participle("read") and not is_participle("shown_to_people")
    source = "fn kept(a: u8) -> bool { }\nfn shown<T>(a: T) -> Option<T> where T: Copy {\nfn told();"
    assert list(rust_names(source)) == ["shown", "told"]


def test_functions_of_modules_are_no_participles() -> None:
    found = list(python_names())
    assert len(found) <= PYTHON, "\n".join(found)


def test_functions_in_rust_are_no_participles() -> None:
    paths = [path for path in sorted((ROOT / "rust").glob("*/src/**/*.rs")) if path.parts[-3] != "fuzz"]
    found = [f"{path.relative_to(ROOT)}: {name}" for path in paths for name in rust_names(path.read_text("utf-8"))]
    assert len(found) <= RUST, "\n".join(found)
