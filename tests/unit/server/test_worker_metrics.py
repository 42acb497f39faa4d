"""The metrics of several processes as those of one server."""

from __future__ import annotations

from hydrofoil.server.workers.metrics import ServerMetrics

HEAD = "# HELP a_total text\n# TYPE a_total counter\n"
RELOADS = "apiserver_authentication_config_controller_automatic_reloads_total"


def counted(number: int, reloads: int = 0) -> str:
    return f'{HEAD}a_total{{x="y"}} {number}\n# TYPE {RELOADS} counter\n{RELOADS}{{status="success"}} {reloads}\n'


def test_what_has_ended_still_counts() -> None:
    metrics = ServerMetrics()
    assert 'a_total{x="y"} 5\n' in metrics.merge([counted(2), counted(3)])
    metrics.bury(counted(3))
    metrics.bury(counted(4))
    assert 'a_total{x="y"} 9\n' in metrics.merge([counted(2)])
    metrics.reset()
    assert 'a_total{x="y"} 2\n' in metrics.merge([counted(2)])


def test_a_reload_counts_once_when_all_have_read() -> None:
    metrics = ServerMetrics()

    def told(*reloads: int) -> bool:
        return f'{RELOADS}{{status="success"}} 1\n' in metrics.merge([counted(0, number) for number in reloads])

    assert not told(1, 0, 1)
    assert told(1, 1, 1)
    assert told(1, 0, 1), "one was replaced"
