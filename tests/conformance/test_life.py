"""The recorded scenarios of a cluster that lives, by a clock that moves as the scenario waits (`conformance/life`)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from uuid import uuid4

import pytest

from tests.conformance.replay import scenarios
from tests.conformance.replay.client import Client
from tests.conformance.replay.life.session import LifeSession
from tests.conformance.replay.life.timing import Moved
from tests.conformance.servers import SHOWN, serve, with_token
from tests.conformance.suites import Expectation, expectations
from tests.etcd import Etcd

FLAGS = (
    "--cluster=3",
    "--test-controls",
    "--node-monitor-grace-period=8s",
    "--node-monitor-period=1s",
    "--horizontal-pod-autoscaler-sync-period=2s",
    "--pvclaimbinder-sync-period=2s",
)
"""The flags of the recording."""
LIFE = expectations("life")
STORED = [case for case in LIFE if case.name in ("deployment", "namespaces", "volumes")]
"""The scenarios that run on a folder and on etcd, too."""

pytestmark = pytest.mark.timeout(400)


@contextmanager
def session_of(url: str) -> Iterator[LifeSession]:
    """Yield a session that moves the clock of a server."""
    client = Client(url, "admin")
    with closing(LifeSession(client, Moved(client))) as session:
        yield session


def meet(case: Expectation, *flags: str) -> None:
    """Fail unless a run has as many steps as expected that pass."""
    with serve(*FLAGS, *flags) as url, session_of(url) as session:
        outcome = scenarios.compare(session.client, case.path, show=SHOWN, session=session)
    print(outcome)
    assert len(outcome.passed) + len(outcome.failed) == case.total
    assert len(outcome.passed) >= case.least


@pytest.mark.parametrize("case", LIFE, ids=lambda case: case.title)
def test_life(case: Expectation, tmp_path: Path) -> None:
    meet(case, *with_token(tmp_path))


@pytest.mark.parametrize("case", STORED, ids=lambda case: case.title)
def test_life_on_a_folder(case: Expectation, tmp_path: Path) -> None:
    meet(case, *with_token(tmp_path), f"--data-dir={tmp_path / 'data'}")


@pytest.mark.program("etcd")
@pytest.mark.parametrize("case", STORED, ids=lambda case: case.title)
def test_life_on_etcd(case: Expectation, tmp_path: Path, etcd: Etcd) -> None:
    meet(case, *with_token(tmp_path), "--etcd-servers", etcd.url, "--etcd-prefix", f"/{uuid4()}")
