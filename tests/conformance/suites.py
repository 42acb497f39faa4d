"""The recorded answers of kube-apiserver in this folder, and which of them a server gives."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

ANSWERS = Path(__file__).with_name("answers")
SCENARIOS = ANSWERS / "scenarios"
"""The scenarios that need no special server."""
CORPUS = ANSWERS / "corpus"
FIXTURES = ANSWERS / "fixtures.jsonl.gz"
"""Objects of every kind in JSON and protobuf, from Kubernetes (k8s.io/api/testdata/HEAD)."""
EXPECTED = Path(__file__).with_name("expected.txt")


class Expectation(NamedTuple):
    """A scenario by its folder and name, how many of its steps pass at least, and how many there are."""

    suite: str
    name: str
    least: int
    total: int

    @property
    def path(self) -> Path:
        """Its file."""
        return ANSWERS / self.suite / f"{self.name}.yaml"

    @property
    def title(self) -> str:
        """Its name in the report of the tests."""
        return self.name if self.suite == "scenarios" else f"{self.suite}/{self.name}"


def expectations(*suites: str) -> list[Expectation]:
    """Return those of some suites, in the order of the file."""
    lines = (line.split() for line in EXPECTED.read_text("utf-8").splitlines() if not line.startswith("#"))
    found = []
    for title, least, total in filter(None, lines):
        suite, _, name = title.rpartition("/")
        found.append(Expectation(suite or "scenarios", name, int(least), int(total)))
    return [expectation for expectation in found if expectation.suite in suites]
