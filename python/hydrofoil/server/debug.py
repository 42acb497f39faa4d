"""The pages below `/debug`: profiles, flags that can be set, priority and fairness (apiserver `pkg/server/routes`)."""

from __future__ import annotations

import asyncio
import gc
import logging
import sys
import threading
import traceback
from collections import Counter
from collections.abc import Callable

from hydrofoil.answer import NOSNIFF, TEXT, Answer, plain
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.context import Context
from hydrofoil.endpoints.params import parse
from hydrofoil.fairness import dump
from hydrofoil.fairness.service import Fairness
from hydrofoil.go_text import quote

PLAIN = "text/plain"
HTML = "text/html; charset=utf-8"
PROFILES = ("allocs", "block", "goroutine", "heap", "mutex", "threadcreate")
PPROF, FLAGS, FAIRNESS = "/debug/pprof", "/debug/flags", "/debug/api_priority_and_fairness/"
MOST_KINDS = 100
"""The kinds of objects that the heap page lists."""
MOST_LEVEL = 1 << 31


class Debug:
    """The pages of one server."""

    def __init__(self, fairness: Fairness | None, *, profiling: bool) -> None:
        self._fairness = fairness
        self._profiling = profiling

    async def answer(self, context: Context, path: str) -> Answer | None:
        """Return the page of a path; None if there is no such page."""
        if path.startswith(FAIRNESS):
            return self._fair(context, path.removeprefix(FAIRNESS))
        if not self._profiling:
            return None
        if path == PPROF:
            head = b"%sContent-Type: %s\r\nLocation: %s/\r\n" % (context.common, HTML.encode(), PPROF.encode())
            return Answer(302, head, f'<a href="{PPROF}/">Found</a>.\n\n'.encode())
        if path.startswith(f"{PPROF}/"):
            return self._profile(context, path.removeprefix(f"{PPROF}/"))
        if path == f"{FLAGS}/v":
            return await self._verbosity(context)
        if path == FLAGS or path.startswith(f"{FLAGS}/"):
            page = f"<html>\n<head>\n<title>{FLAGS}/</title>\n</head>\n<body>\n{FLAGS}/<br>\n<br>\nflags:<br>\n"
            page += "<table>\n<tr>v<br>\n</table>\n<br>\nfull flags configurable<br>\n</body>\n</html>\n"
            return respond.answer(context, 200, page.encode(), HTML)
        return None

    def _fair(self, context: Context, name: str) -> Answer | None:
        if (fair := self._fairness) is None:
            return None
        details = bool(parse(context.info.query).get("includeRequestDetails"))
        pages: dict[str, Callable[[], str]] = {
            "dump_priority_levels": lambda: dump.levels(fair),
            "dump_queues": lambda: dump.queues(fair),
            "dump_requests": lambda: dump.requests(fair, details=details),
        }
        found = pages.get(name)
        return None if found is None else respond.answer(context, 200, found().encode(), TEXT)

    def _profile(self, context: Context, name: str) -> Answer:
        if not name:
            rows = "".join(f"<tr><td><a href='{p}?debug=1'>{p}</a></td></tr>\n" for p in PROFILES)
            page = (
                f"<html>\n<head>\n<title>{PPROF}/</title>\n</head>\n<body>\n<table>\n{rows}</table>\n</body>\n</html>\n"
            )
            return respond.answer(context, 200, page.encode(), HTML)
        if name == "symbol":
            return plain(200, "num_symbols: 1\n", context.common)
        if name not in PROFILES:
            return plain(404, "Unknown profile\n", context.common)
        found = {"goroutine": tasks, "heap": objects, "allocs": objects, "threadcreate": threads}.get(name)
        return plain(200, found() if found else f"--- {name}: not measured\n", context.common)

    async def _verbosity(self, context: Context) -> Answer:
        head = context.common + NOSNIFF
        if context.request.method != "PUT":
            return respond.answer(context, 406, b"unsupported http method\n", PLAIN, head)
        given = (await context.body()).decode(errors="replace")
        if not (given.isascii() and given.isdigit() and int(given[:20]) < MOST_LEVEL):
            text = f"failed set klog.logging.verbosity {given[:100]}: strconv.ParseInt: parsing {quote(given[:100])}: "
            shown = "".join(c if c.isprintable() else "?" for c in text)
            return respond.answer(context, 400, f"{shown}invalid syntax\n".encode(errors="replace"), PLAIN, head)
        # As at the start: from this level on the log has more than warnings.
        logging.getLogger("hydrofoil").setLevel(logging.DEBUG if int(given) >= 4 else logging.INFO)
        return respond.answer(
            context, 200, f"successfully set klog.logging.verbosity to {given}\n".encode(), PLAIN, head
        )


def tasks() -> str:
    """Return the tasks of the loop and where they wait."""
    found = asyncio.all_tasks()
    places = Counter(f"{t.get_name()} {stack[-1]}" if (stack := t.get_stack(limit=1)) else t.get_name() for t in found)
    lines = [f"{count} @ {place}\n" for place, count in places.most_common(MOST_KINDS)]
    return f"goroutine profile: total {len(found)}\n{''.join(lines)}"


def threads() -> str:
    """Return the threads and where they are."""
    frames = sys._current_frames()
    lines = []
    for thread in threading.enumerate():
        stack = frames.get(thread.ident or 0)
        place = traceback.format_stack(stack, limit=1)[0].strip() if stack is not None else ""
        lines.append(f"1 @ {thread.name} {place.splitlines()[0] if place else ''}\n")
    return f"threadcreate profile: total {len(lines)}\n{''.join(lines)}"


def objects() -> str:
    """Return the numbers of the garbage collector; counting all objects would stop the server for a while."""
    lines = [
        f"# generation {at}: " + ", ".join(f"{k} {v}" for k, v in s.items()) + "\n"
        for at, s in enumerate(gc.get_stats())
    ]
    return f"heap profile: {gc.get_count()}\n{''.join(lines)}"
