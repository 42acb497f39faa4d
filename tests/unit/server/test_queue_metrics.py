"""The queues of a server as metrics."""

from __future__ import annotations

from prometheus_client.core import Metric

from hydrofoil.clock import Clock
from hydrofoil.server.metrics import exposition
from hydrofoil.server.queue_metrics import QueueMetrics
from hydrofoil.watch.queue import Key, Queue


async def test_a_queue_shows_what_it_has_done_until_a_reset() -> None:
    async def work(_: Key) -> bool:
        return True

    queue, found = Queue("work", work, Clock()), QueueMetrics()
    found.add("boats", queue)
    await queue.done(("a",))
    await queue.done(("b",))
    families: list[Metric] = list(found.collect())
    text = exposition(families, ()).decode()
    assert 'workqueue_adds_total{name="boats"} 2\n' in text
    assert 'workqueue_depth{name="boats"} 0\n' in text
    assert 'workqueue_work_duration_seconds_count{name="boats"} 2\n' in text
    assert 'workqueue_unfinished_work_seconds{name="boats"} 0\n' in text
    found.forget()
    assert not list(found.collect())
    await queue.close()


async def test_a_key_under_way_is_unfinished_work() -> None:
    seen: list[str] = []

    async def work(_: Key) -> bool:
        families: list[Metric] = list(found.collect())
        seen.append(exposition(families, ()).decode())
        return False

    queue, found = Queue("work", work, Clock(), retry=3600.0), QueueMetrics()
    found.add("boats", queue)
    await queue.done(("a",))
    assert 'workqueue_unfinished_work_seconds{name="boats"} 0\n' not in seen[0]
    assert 'workqueue_longest_running_processor_seconds{name="boats"}' in seen[0]
    assert queue.counts.repeated == 1
    await queue.close()
