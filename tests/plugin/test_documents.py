"""The examples of the documents run unchanged."""

from __future__ import annotations

import re

import pytest

from tests.conftest import ROOT
from tests.plugin.runs import run

BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)

HERE = re.compile(r"^\$ cat > test_it\.py <<END\n(.*?)^END$", re.MULTILINE | re.DOTALL)


def blocks(name: str) -> list[str]:
    """Return the examples in Python of a document."""
    return BLOCK.findall((ROOT / name).read_text())


def test_the_page_on_python(pytester: pytest.Pytester) -> None:
    suites = [block for block in blocks("docs/testing/python.md") if "def test_" in block]
    scripts = [block for block in blocks("docs/testing/python.md") if "def test_" not in block]
    assert (len(suites), len(scripts)) == (4, 1)
    pytester.makepyfile("\n".join(suites))
    run(pytester).assert_outcomes(passed=5)
    path = pytester.makepyfile(script=scripts[0])
    done = pytester.runpython(path)
    assert done.ret == 0 and re.fullmatch(r"http://127\.0\.0\.1:\d+ .*admin\.kubeconfig 0\n", done.stdout.str() + "\n")


def test_the_example_of_the_readme(pytester: pytest.Pytester) -> None:
    (example,) = HERE.findall((ROOT / "README.md").read_text())
    pytester.makepyfile(example)
    run(pytester).assert_outcomes(passed=1)
