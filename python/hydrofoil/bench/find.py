"""`hydrofoil bench find`: a search for the highest rate at which percentiles stay within their bounds."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from hydrofoil.bench.cases import CASES, Variant
from hydrofoil.bench.failure import INTERRUPTED, REFUSED, Stopped
from hydrofoil.bench.files import writable
from hydrofoil.bench.measured import run_sessions
from hydrofoil.bench.options import SearchOptions
from hydrofoil.bench.repeats import merge
from hydrofoil.bench.result import MEASURED, Result
from hydrofoil.bench.run import check, deliver, refuse_relative
from hydrofoil.bench.runner import Runner
from hydrofoil.bench.table import number
from hydrofoil.bench.thresholds import FAILED

FINE = 1.05
"""The ratio of the lowest rate that fails and the highest that holds at which the search ends."""
GROWTH = 1.3
"""The factor of the next rate while all have held."""
LEAST = 64
"""The part of the estimate below which no rate is tried."""
ACHIEVED = 0.95
"""The share of a rate that has to be achieved."""
NEARLY = 1.3
"""The ratio to its bound within which a percentile that holds is measured again."""
AGAIN = 3
"""How often the lowest rate that has failed is tried once more, when the search is at its end."""
AGREED = 2
"""Measurements of a rate that have to agree, where one is not enough: other work of the machine makes one fail."""
Found = dict[str, Any]


def run(options: SearchOptions, case: str) -> int:
    """Search, and write the curve; return the exit code. Raise Stopped."""
    bounds = options.bounds()
    if not bounds:
        raise Stopped("no bound is given", "such as --p99 50ms", REFUSED)
    if options.against or options.rate or len(options.readers) > 1 or len(options.encoding) > 1:
        what = "one server, one number of readers and one encoding are searched, and the rate is what is found"
        raise Stopped(what, "leave out --against and --rate, and lists of values", REFUSED)
    writable(options.json, options.report, options.csv)
    refuse_relative(options)
    found: Found = {}

    def work(runners: Sequence[Runner]) -> None:
        search = Search(runners[0], Variant(case, options.encoding[0], options.readers[0], 0.0), bounds)
        search.run()
        found.update(search.found())

    (done,), code = run_sessions([options], (case,), work)
    done["find"] = found
    deliver(done, options)
    if options.json != "-" and options.csv != "-":
        sys.stdout.write(text(found))
    if code == INTERRUPTED:
        return code
    return check(done, options, code) or (0 if found["rate"] else FAILED)


class Search:
    """A search for the highest rate of one case."""

    def __init__(self, runner: Runner, variant: Variant, bounds: Mapping[str, float]) -> None:
        self._runner = runner
        self._variant = variant
        self._bounds = bounds
        self._curve: dict[float, Result] = {}
        """The results by their rates."""
        self._estimate: float | None = None

    def run(self) -> None:
        """Estimate the rate by a load without pauses, then halve the interval of the rate that is looked for."""
        options = self._runner.options
        if options.warmup:
            self._runner.measure(self._variant, options.warmup)
        first = self._runner.measure(self._variant)
        self._estimate = first["load_per_second"]
        if first["status"] not in MEASURED or not self._estimate or self._runner.session.interrupted:
            self._runner.keep(first)
            return
        low, high, rate, again = 0.0, 0.0, rounded(self._estimate), AGAIN
        while True:
            if (holds := self._try(rate)) is None:
                return
            low = max(low, rate) if holds else low
            above = [tried for tried, result in self._curve.items() if tried > low and not self.holds(result)]
            high = min(above, default=0.0)
            rate = rounded(low * GROWTH if not high else (low + high) / 2)
            if high and (high / max(low, self._estimate / LEAST) <= FINE or rate in self._curve):
                # Other work of some seconds may have made it fail, and no rate above it was tried since.
                rate, again = high, again - 1
                if again < 0 or not low:
                    return

    def _try(self, rate: float) -> bool | None:
        """Measure a rate; return whether it holds the bounds, None where the search cannot go on.

        One that fails, or is near its bound, is measured again until two of three agree.
        """
        runner, results = self._runner, list[Result]()
        while True:
            results.append(runner.measure(self._variant._replace(rate=rate)))
            if results[-1]["status"] not in MEASURED or runner.session.interrupted:
                break
            held = sum(map(self.holds, results))
            agree = max(held, len(results) - held) >= AGREED or (len(results) == held and not self._is_near(results[0]))
            if agree and len(results) >= runner.options.repeat:
                break
        result = merge(results)
        runner.keep(result)
        if result["status"] not in MEASURED or runner.session.interrupted:
            return None
        self._curve[rate] = result
        return self.holds(result)

    def _is_near(self, result: Result) -> bool:
        times = percentiles(result)
        return any(1 / NEARLY < times.get(name, 0.0) / bound < NEARLY for name, bound in self._bounds.items())

    def holds(self, result: Result) -> bool:
        """Report whether a result is within the bounds, and its rate was achieved."""
        times = percentiles(result)
        if result["status"] == "overloaded" or result["load_per_second"] < ACHIEVED * result["offered_per_second"]:
            return False
        return all(times.get(name, bound) <= bound for name, bound in self._bounds.items())

    def found(self) -> Found:
        """Return the rate, null if none holds, and the curve."""
        held = [rate for rate, result in self._curve.items() if self.holds(result)]
        best = self._curve[max(held)] if held else None
        options = self._runner.options
        curve = [
            {
                "rate": rate,
                "per_second": result["load_per_second"],
                "ops": result["ops"],
                "times_ms": percentiles(result),
                "verdict": "holds" if self.holds(result) else "overloaded" if is_behind(result) else "over",
            }
            for rate, result in sorted(self._curve.items())
        ]
        return {
            "case": self._variant.case,
            "name": self._variant.name(options),
            "bounds_ms": dict(self._bounds),
            "estimate_per_second": self._estimate,
            "rate": max(held, default=None),
            "per_second": best and best["load_per_second"],
            "ops": best and best["ops"],
            "times_ms": best and percentiles(best),
            "curve": curve,
        }


def is_behind(result: Result) -> bool:
    """Report whether a rate was not achieved."""
    behind: bool = result["load_per_second"] < ACHIEVED * result["offered_per_second"]
    return result["status"] == "overloaded" or behind


def percentiles(result: Result) -> dict[str, float]:
    """Return the times of a result: lags of events, else latencies of requests."""
    found: dict[str, float] = result["lag_from_sent_ms"] or result["latency_ms"] or {}
    return found


def rounded(rate: float) -> float:
    """Return a rate with three significant digits."""
    return float(f"{rate:.3g}")


def text(found: Found) -> str:
    """Return the curve and the rate as text."""
    heads = ("rate", "achieved", "ops", "p50 ms", "p99 ms", "p99.9 ms", "")
    rows = [heads]
    for point in found["curve"]:
        times = point["times_ms"]
        cells = [number(times.get(name), 2) for name in ("p50", "p99", "p99.9")]
        rows.append(
            (f"{point['rate']:g}", number(point["per_second"], 1), number(point["ops"], 0), *cells, point["verdict"])
        )
    widths = [max(len(row[i]) for row in rows) for i in range(len(heads))]
    lines = ["  ".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]
    bounds = " and ".join(f"{name} <= {bound:g} ms" for name, bound in found["bounds_ms"].items())
    if found["rate"]:
        case = CASES[found["case"]]
        unit = "writes" if case.watches else case.unit
        shown = ", ".join(f"{name} {found['times_ms'][name]:,.2f} ms" for name in found["bounds_ms"])
        last = f"{found['rate']:g} {unit} a second hold {bounds} ({shown} of {found['ops']:,} operations)"
    else:
        last = f"no rate was found that holds {bounds}"
    return "\n".join((*lines, f"{found['case']}: {last}", ""))
