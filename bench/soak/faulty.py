"""A server that fails at random: before any await of its code and any call of the extension.

`python -m bench.soak.faulty serve ...`; CHAOS_RATE is the share of them that fail. SIGUSR1 ends the faults, SIGUSR2 has
the state of the process written to the standard output as a line of JSON.
"""

from __future__ import annotations

import ast
import asyncio
import builtins
import gc
import importlib.abc
import importlib.machinery
import json
import os
import random
import signal
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from importlib.machinery import ModuleSpec
from typing import Any

SPARED = ("hydrofoil.server.run", "hydrofoil.server.process", "hydrofoil.server.bootstrap", "hydrofoil.cli")
"""Modules that start and stop a server: a fault of a request could never be in them."""
SPARED_CALLS = ("take_woken", "has_woken", "set_aside", "seconds")
"""Calls without work that could fail: they read or change a number, or empty a list."""
NAME = "__faulty__"


class Injected(RuntimeError):
    """A fault that was made."""


class Faults:
    """Decides what fails."""

    def __init__(self, rate: float, seed: int) -> None:
        self.rate = rate
        self.on = False
        self.made: Counter[str] = Counter()
        self._random = random.Random(seed)

    def meet(self, where: str) -> None:
        """Raise, or not."""
        if self.on and self._random.random() < self.rate:
            self.made[where] += 1
            raise self._random.choice(KINDS)(f"injected at {where}")

    async def waits(self, awaitable: Awaitable[Any]) -> Any:
        """Await something, unless a fault is first."""
        try:
            self.meet("an await")
        except BaseException:
            if asyncio.iscoroutine(awaitable):
                awaitable.close()
            raise
        return await awaitable


KINDS: list[type[BaseException]] = [Injected, OSError, MemoryError]
"""The exceptions raised; the panic of the extension is added once that is loaded."""


class Rewriter(ast.NodeTransformer):
    """Make every await one that may fail."""

    def visit_Await(self, node: ast.Await) -> ast.Await:
        self.generic_visit(node)
        made = ast.Await(ast.Call(ast.Name(NAME, ast.Load()), [node.value], []))
        return ast.fix_missing_locations(ast.copy_location(made, node))


class Loader(importlib.machinery.SourceFileLoader):
    """Compiles modules of the server so."""

    def get_code(self, fullname: str) -> Any:
        path = self.get_filename(fullname)
        tree = Rewriter().visit(ast.parse(self.get_data(path), path))
        return compile(tree, path, "exec", dont_inherit=True)


class Finder(importlib.abc.MetaPathFinder):
    """Finds modules of the server for the loader."""

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if not fullname.startswith("hydrofoil.") or fullname.startswith((*SPARED, "hydrofoil._native")):
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path)
        if spec is not None and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            spec.loader = Loader(fullname, spec.loader.path)
        return spec


def wrapped(faults: Faults, where: str, call: Callable[..., Any]) -> Callable[..., Any]:
    """Return a call of the extension that may fail before it begins."""

    def faulty(*args: Any, **kwargs: Any) -> Any:
        faults.meet(where)
        return call(*args, **kwargs)

    faulty.__name__ = getattr(call, "__name__", where)
    return faulty


def weaken(faults: Faults) -> None:
    """Wrap every method of the extension's classes."""
    from hydrofoil import engine

    KINDS.append(engine.PanicException)
    for name, kind in list(vars(engine).items()):
        if not isinstance(kind, type) or issubclass(kind, BaseException):
            continue
        for method, found in list(vars(kind).items()):
            if type(found).__name__ == "method_descriptor" and not method.startswith("_"):
                if method not in SPARED_CALLS:
                    setattr(kind, method, wrapped(faults, f"{name}.{method}", found))


def place(task: asyncio.Task[Any]) -> str:
    """Where a task waits, from the outside in."""
    steps: list[str] = []
    inner: Any = task.get_coro()
    while inner is not None and (frame := getattr(inner, "cr_frame", None)) is not None:
        steps.append(f"{inner.__qualname__}:{frame.f_lineno}")
        inner = inner.cr_await
    return " > ".join(step for step in steps if not step.startswith("Faults."))


def state(faults: Faults) -> dict[str, Any]:
    """Return the state of the process."""
    from hydrofoil.watch.hub import Hub

    gc.collect()
    hubs = [found for found in gc.get_objects() if isinstance(found, Hub)]
    tasks = Counter(place(task) for task in asyncio.all_tasks())
    return {
        "tasks": tasks,
        "streams": sum(len(hub) for hub in hubs),
        "files": len(os.listdir("/proc/self/fd")),  # noqa: PTH208 - no path is needed
        "faults": sum(faults.made.values()),
        "places of faults": len(faults.made),
    }


def main() -> int:
    """Serve, weakly."""
    faults = Faults(float(os.environ.get("CHAOS_RATE", "0.0005")), int(os.environ.get("CHAOS_SEED", "1")))
    setattr(builtins, NAME, faults.waits)
    sys.meta_path.insert(0, Finder())
    weaken(faults)
    from hydrofoil.cli.main import main as serve
    from hydrofoil.server import run

    server_type: Any = run.Server
    start, stop = server_type.start, server_type.stop

    async def started(server: Any) -> Any:
        url = await start(server)
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGUSR1, setattr, faults, "on", False)

        def tell() -> None:
            sys.stdout.write(json.dumps(state(faults)) + "\n")
            sys.stdout.flush()

        def show() -> None:
            sys.stderr.write("\n".join(f"{n} {where}" for where, n in state(faults)["tasks"].items()) + "\n")

        loop.add_signal_handler(signal.SIGUSR2, tell)
        loop.add_signal_handler(signal.SIGQUIT, show)
        faults.on = True
        return url

    async def stopped(server: Any) -> None:
        faults.on = False
        await stop(server)

    server_type.start, server_type.stop = started, stopped
    return serve(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
