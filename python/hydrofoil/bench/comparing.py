"""`hydrofoil bench compare`: results of files, or of servers that are measured in turn."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hydrofoil.bench.compare import labels, read
from hydrofoil.bench.failure import REFUSED, Stopped
from hydrofoil.bench.files import writable
from hydrofoil.bench.options import ALL, CASES, MORE, BenchOptions, choose_cases
from hydrofoil.bench.rivals import compare_servers, deliver


def run(options: BenchOptions, words: Sequence[str]) -> int:
    """Compare runs of files, or servers; return the exit code. Raise Stopped."""
    writable(options.json, options.report, options.csv)
    urls = [word for word in words if "://" in word]
    cases = tuple(word for word in words if word in (*CASES, *MORE, ALL) and not Path(word).exists())
    paths = [word for word in words if word not in urls and word not in cases]
    if options.against:
        from hydrofoil.bench.against import run as against

        return against(options.replaced(server=urls[0] if urls else options.server), choose_cases(cases))
    if urls or (cases and not paths):
        servers = [options.server, *urls] if options.server else urls
        if len(servers) < 2 or paths:
            raise Stopped("two servers are needed", "hydrofoil bench compare http://A http://B, or --against", REFUSED)
        names = [url if servers.count(url) == 1 else f"{url} ({at})" for at, url in enumerate(servers, 1)]
        chosen = [options.replaced(server=url, label=name) for url, name in zip(servers, names, strict=True)]
        return compare_servers(chosen, choose_cases(cases))
    if options.repeat:
        raise Stopped("--repeat belongs to servers", "hydrofoil bench compare http://A http://B --repeat 5", REFUSED)
    documents = read(paths)
    return deliver(documents, labels(documents, paths), options, 0)
