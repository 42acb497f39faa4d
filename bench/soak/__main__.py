"""`make soak`: mixed writes, watchers, lists, slow readers and kills; then every watcher's view against a fresh list.

With `--chaos` the server fails at random at every await and every call of the extension, and clients vanish, stall and
flood as well; after the faults it must hold what it held before them.

SECONDS (900), WATCHERS (2000) and RATE (1000 writes a second) come from the environment.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO

import aiohttp
import uvloop
from bench.soak import crowd, readers
from bench.soak.chaos import Chaos
from bench.soak.state import NAMESPACES, Soak, key, view
from bench.soak.watchers import Watcher, following
from bench.soak.writers import WORKERS, Writer

POPULATION = 5000
"""Objects at a time, where the run is long enough to make them."""
SLOW_READERS = 12
PARAMETERS = {"SECONDS": "900", "WATCHERS": "2000", "RATE": "1000"}
SETTLING = 30
"""How long watchers may take to arrive at the end state, in seconds."""
GROWTH = 0.05
"""By how much memory may grow in the second half: what an allocator's arenas make of the same objects."""
NOISE = 16 << 20


def resident(pid: int) -> int:
    """Return the memory of a process, in bytes."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def processor(pid: int) -> float:
    """Return the CPU time of a process, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def sampled(pid: int, samples: list[int]) -> None:
    """Memory once a second."""
    while True:
        samples.append(resident(pid))
        await asyncio.sleep(1)


async def settled(soak: Soak, watchers: list[Watcher], writers: list[Writer]) -> None:
    """Wait until all views equal a fresh list, and that equals the answers of the writers."""
    async with soak.session.get(readers.PATH, params={"labelSelector": "shard"}) as r:
        items = (await r.json())["items"]
    fresh = view(items)
    shards = {key(item): item["metadata"]["labels"]["shard"] for item in items}
    written = {k: version for writer in writers for k, version in writer.held.items()}
    if fresh != written:
        soak.fail(f"{len(fresh.items() ^ written.items())} differences between a fresh list and what was written")
    left = [(w, w.expected(fresh, shards)) for w in watchers]
    for _ in range(SETTLING * 10):
        left = [(w, expected) for w, expected in left if w.held != expected]
        if not left:
            break
        await asyncio.sleep(0.1)
    for watcher, expected in left:
        differences = sorted(watcher.held.items() ^ expected.items())
        soak.fail(f"{watcher}: {len(differences)} differences, {differences[:3]}")
    soak.counts["objects"] = len(fresh)


async def soaked(
    soak: Soak, pid: int, seconds: float, count: int, rate: float, chaos: Chaos | None = None
) -> list[int]:
    """Run the whole load; return memory by the second."""
    for i in range(NAMESPACES):
        name = {"metadata": {"name": f"soak{i}"}}
        while True:
            try:
                async with soak.session.post("/api/v1/namespaces", json=name) as r:
                    if r.status in (201, 409):
                        break
                    r.raise_for_status()
            except aiohttp.ClientError:
                if chaos is None:
                    raise
    # Under chaos memory has to stand still from the first minute on.
    objects = min(POPULATION, int(rate * (seconds / 4 if chaos is None else min(10, seconds / 4))))
    writers = [Writer(soak, i, objects // WORKERS) for i in range(WORKERS)]
    watchers = [Watcher(soak, i) for i in range(count)]
    memory: list[int] = []
    async with following(watchers):
        beside = [
            sampled(pid, memory),
            readers.lists(soak),
            readers.kills(soak, watchers),
            *(readers.slow_reader(soak, i) for i in range(SLOW_READERS)),
        ]
        if chaos is not None:
            beside += [crowd.vanishing(soak), crowd.stalling(soak), crowd.flooding(soak)]
            beside += [crowd.asking(soak, chaos.latencies), crowd.coming_and_going(soak)]
        tasks = [asyncio.create_task(job) for job in beside]
        writing = [asyncio.create_task(w.run(rate / WORKERS)) for w in writers]
        stopped, _ = await asyncio.wait([*tasks, *writing], timeout=seconds, return_when=asyncio.FIRST_EXCEPTION)
        soak.ending = True
        await asyncio.gather(*writing, return_exceptions=True)
        for task in tasks:
            task.cancel()
        for task in (*stopped, *writing):
            if not task.cancelled() and task.exception() is not None:
                soak.fail(f"{task.get_coro()}: {task.exception()!r}")
        if chaos is not None:
            chaos.end()
            await crowd.gone(soak, SETTLING)
        await settled(soak, watchers, writers)
    return memory


def flat(memory: list[int]) -> tuple[int, int]:
    """Return the medians of the third and the fourth quarter of a run."""
    quarter = max(1, len(memory) // 4)
    return int(statistics.median(memory[-2 * quarter : -quarter])), int(statistics.median(memory[-quarter:]))


async def run(url: str, server: subprocess.Popen[str], log: IO[str], chaos: Chaos | None) -> int:
    """One soak; the exit code."""
    seconds, count, rate = (float(os.environ.get(name, default)) for name, default in PARAMETERS.items())
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=60)
    async with aiohttp.ClientSession(url, timeout=timeout, connector=aiohttp.TCPConnector(limit=0)) as session:
        soak = Soak(url, session, chaos=chaos is not None)
        memory = await soaked(soak, server.pid, seconds, int(count), rate, chaos)
    before, after = flat(memory)
    if chaos is not None:
        await chaos.rest(soak)
        memory.append(resident(server.pid))
    elif after > before * (1 + GROWTH) + NOISE:
        soak.fail(f"memory grew in the second half: {before >> 20} MiB, {after >> 20} MiB")
    log.seek(0)
    text = log.read()
    if chaos is not None:
        chaos.check(soak, memory, text)
    elif text:
        soak.fail(f"the log is not empty: {text[:2000]}")
    writes = sum(soak.counts[verb] for verb in ("post", "put", "patch", "delete"))
    report = {
        "seconds": seconds,
        "watchers": int(count),
        "writes a second": round(writes / seconds, 1),
        "events a second": round(soak.counts["events"] / seconds, 1),
        **soak.counts,
        "CPU seconds of server and clients": [processor(server.pid), processor(os.getpid())],
        "memory of quarters 3 and 4 (MiB)": [before >> 20, after >> 20],
        "memory by tenths (MiB)": [memory[i * len(memory) // 10] >> 20 for i in range(10)],
        **(chaos.report() if chaos is not None else {}),
        "failed": soak.failures,
    }
    sys.stdout.write(json.dumps(report, indent=1) + "\n")
    return 1 if soak.failures else 0


def main() -> int:
    """Start a server and soak it."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    # The history is full well before the second half, in which memory must be flat.
    window = max(5, int(float(os.environ.get("SECONDS", PARAMETERS["SECONDS"])) / 4))
    faulty = "--chaos" in sys.argv[1:]
    program = "bench.soak.faulty" if faulty else "hydrofoil"
    window = min(window, 20 if faulty else 300)
    line = [sys.executable, "-m", program, "serve", "--port", "0", "--history-window", f"{window}s"]
    with (
        tempfile.TemporaryFile("w+") as log,
        subprocess.Popen(line, stdout=subprocess.PIPE, stderr=log, text=True) as server,
    ):
        assert server.stdout is not None
        url = server.stdout.readline().split()[-1]
        try:
            return uvloop.run(run(url, server, log, Chaos(server) if faulty else None))
        finally:
            server.terminate()


if __name__ == "__main__":
    sys.exit(main())
