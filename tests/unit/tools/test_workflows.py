"""The workflows of GitHub: what a release builds, tries and publishes. Their syntax is `make workflows`'s."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tests.conftest import ROOT

FOLDER = ROOT / ".github" / "workflows"
RELEASE: dict[str, Any] = yaml.safe_load((FOLDER / "release.yml").read_text())["jobs"]
CI: dict[str, Any] = yaml.safe_load((FOLDER / "ci.yml").read_text())["jobs"]
PYTHONS = ["3.11", "3.12", "3.13", "3.14"]


def needed(job: str) -> set[str]:
    """Return the jobs that come before one."""
    direct = set(RELEASE[job].get("needs", []))
    return direct.union(*map(needed, direct)) if direct else direct


def test_wheels_of_every_platform_are_built() -> None:
    targets = RELEASE["linux"]["strategy"]["matrix"]["target"] + RELEASE["macos"]["strategy"]["matrix"]["target"]
    machines = ("unknown-linux-gnu", "unknown-linux-musl", "apple-darwin")
    assert sorted(targets) == sorted(f"{cpu}-{machine}" for cpu in ("x86_64", "aarch64") for machine in machines)


def test_wheels_of_every_linux_are_run() -> None:
    """Those of x86_64 and glibc by the job `check`."""
    steps = {step["name"]: step for step in RELEASE["linux"]["steps"] if "name" in step}
    assert steps["A look at it on Alpine"]["if"] == "endsWith(matrix.target, 'musl')"
    assert steps["A look at it on another machine"]["if"] == "matrix.target == 'aarch64-unknown-linux-gnu'"
    assert "make foreign" in steps["A look at it on another machine"]["run"]
    names = list(steps)
    assert names.index("What runs programs of another machine") < names.index("A look at it on another machine")


@pytest.mark.parametrize("jobs", [RELEASE["check"], CI["test"]])
def test_each_python_is_tried(jobs: dict[str, Any]) -> None:
    assert jobs["strategy"]["matrix"]["python"] == PYTHONS


def test_nothing_is_published_before_all_is_tried() -> None:
    # What comes after has no test of its own left: names for images that were pushed, and packages of thin helpers.
    after = {"publish", "manifest", "clients"}
    assert needed("publish") == set(RELEASE) - after
    assert "image" in needed("manifest") and "publish" in needed("clients")
    assert all(RELEASE[name]["if"] == "startsWith(github.ref, 'refs/tags/v')" for name in after)
    assert "check" in needed("image")
    for name, job in RELEASE.items():
        for step in job["steps"]:
            if "gh-action-pypi-publish" in step.get("uses", "") or "buildah push" in step.get("run", ""):
                assert "refs/tags/v" in job.get("if", "") + step.get("if", ""), name


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.yml")), ids=lambda path: path.name)
def test_jobs_end_and_have_no_more_rights_than_they_need(path: Any) -> None:
    workflow = yaml.safe_load(path.read_text())
    assert workflow["permissions"] == {"contents": "read"}
    assert all("timeout-minutes" in job for job in workflow["jobs"].values())
