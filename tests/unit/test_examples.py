"""The examples in the docstrings of what others implement are run."""

from __future__ import annotations

import doctest
import sys

import pytest

from hydrofoil.admission.plugin import Plugin
from hydrofoil.apis.catalog import Catalog
from hydrofoil.registry.strategy import Strategy
from hydrofoil.server.part import Part
from hydrofoil.storage.log import Log
from hydrofoil.watch.follow import State


@pytest.mark.parametrize("kind", [Log, Part, Plugin, State, Strategy])
def test_an_example_runs(kind: type) -> None:
    # The data of types is read once a process, no loop may wait for a file, and the order of examples is chance.
    Catalog()
    finder, runner = doctest.DocTestFinder(recurse=False), doctest.DocTestRunner()
    (example,) = finder.find(kind, kind.__name__, globs=dict(vars(sys.modules[kind.__module__])))
    assert example.examples
    report: list[str] = []
    runner.run(example, out=report.append)
    assert not report, "".join(report)
