"""A process that serves until a signal: its limits, its memory, its exit code."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import resource
import signal
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from hydrofoil.clock import Clock
from hydrofoil.server.config import Config
from hydrofoil.server.readiness import announce, is_open, notify
from hydrofoil.server.run import Server, StartError
from hydrofoil.server.state_file import StateFile

if TYPE_CHECKING:
    # A server of one process starts without it.
    from hydrofoil.server.workers.crew import Crew

INTERRUPTED = 130
"""The exit code after SIGINT."""


def report(text: str) -> None:
    """Write to the standard output, if it is open."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError:
        # Discard the rest of the buffer at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def standing(server: Server) -> str:
    """Return the lines with the address of the server; on a terminal, also its use and the rights of clients."""
    lines = f"kubeconfig {server.kubeconfig}\n" if server.kubeconfig else ""
    other = server.current_context
    if other:
        lines += f"context hydrofoil (current-context stays {other}; --set-context changes it)\n"
    lines += f"serving on {server.url}\n"
    if sys.stdout is None or not sys.stdout.isatty():
        return lines
    from hydrofoil.server.banner import banner

    return banner(
        server.url,
        server.kubeconfig,
        secured=server.app.core.site.secured,
        current_context=other,
        has_page=server.config.ui,
    )


async def serve(config: Config, crew: Crew | None = None) -> int:
    """Serve until a signal; return the exit code. `crew` are the workers that answer, if this process does not."""
    server = Server(config, crew=crew)
    loop = asyncio.get_running_loop()
    # Encoding off the loop alternates with it: two threads keep two cores busy.
    loop.set_default_executor(ThreadPoolExecutor(2, thread_name_prefix="encode"))
    # Before the first answer: a client may end the server as soon as it has one.
    stopping = asyncio.Event()
    interrupts: list[None] = []

    def interrupt() -> None:
        if interrupts:
            # The user does not want to wait for open requests.
            os._exit(INTERRUPTED)
        interrupts.append(None)
        stopping.set()

    loop.add_signal_handler(signal.SIGTERM, stopping.set)
    loop.add_signal_handler(signal.SIGINT, interrupt)
    await server.start()
    # All objects up to here live as long as the process: the garbage collector can skip them.
    gc.freeze()
    # Nearly everything that is made is free again without it: it has less to do if it looks at more at a time, but not
    # at so much that it holds the loop for more than a turn.
    gc.set_threshold(2000, 4, 20)
    gc.enable()
    state = StateFile()
    try:
        # Before the line: who has read it finds the server by `hydrofoil ls`.
        with contextlib.suppress(OSError):
            await asyncio.to_thread(state.write, server, Clock().now())
        report(standing(server))
        line = f"serving on {server.url}"
        notify("READY=1", f"STATUS={line}", f"MAINPID={os.getpid()}")
        if config.ready_fd >= 0:
            announce(config.ready_fd, f"{line}\n")
        await stopping.wait()
    finally:
        # Commands mean it no longer.
        state.remove()
    notify("STOPPING=1", "STATUS=finishing open requests")
    await server.stop()
    return INTERRUPTED if interrupts else 0


def bound_memory() -> None:
    """Limit the C library to two arenas of freed memory instead of one a thread: lists of every form held 50 MB less.

    Other C libraries than glibc have no such switch.
    """
    import ctypes

    arena_max = -8  # malloc.h M_ARENA_MAX
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).mallopt(arena_max, 2)


def start_crew(config: Config, command: Sequence[str]) -> Crew:
    """Fork the workers: before any thread, and with everything loaded that each of them needs. Raise StartError."""
    if not sys.platform.startswith("linux"):
        raise StartError("--workers needs Linux: memory that processes share, and their deaths")
    from hydrofoil.server.workers.crew import Crew
    from hydrofoil.server.workers.worker import run as run_worker

    # What is loaded now, all processes share.
    gc.collect()
    gc.freeze()
    return Crew(config.worker_count, command, run_worker)


def run(config: Config, explain: Callable[[str], str] = str, worker: Sequence[str] = ()) -> int:
    """Serve; return the exit code. `explain` makes the line of a failed start one that names its flag.

    `worker` is the command that begins a worker in place of one that has ended.
    """
    import uvloop

    if config.ready_fd >= 0 and not is_open(config.ready_fd):
        sys.stderr.write(f"hydrofoil: --ready-fd {config.ready_fd}: no open descriptor (the caller opens it)\n")
        return 1
    bound_memory()

    # One file a connection: as Go's runtime does, raise the limit to the machine's.
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if config.kubeconfig:
        with contextlib.suppress(OSError, RuntimeError):
            config = config.replaced(kubeconfig=str(Path(config.kubeconfig).resolve()))
    try:
        crew = start_crew(config, worker) if config.worker_count > 1 else None
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(serve(config, crew))
    except StartError as e:
        sys.stderr.write(f"hydrofoil: {explain(str(e))}\n")
        return 1
