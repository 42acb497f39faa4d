"""The cases of a run, one after the other, and the document of their results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any

from hydrofoil.bench.cases import CASES, SPREAD, WRITERS, Variant, Wanted
from hydrofoil.bench.failure import Stopped, Unreachable, mend
from hydrofoil.bench.manager import MANAGER
from hydrofoil.bench.options import BenchOptions
from hydrofoil.bench.processes import workers
from hydrofoil.bench.result import Result, Schedule, empty, fill
from hydrofoil.bench.session import Part, Sample, Session, message, uid
from hydrofoil.bench.workspace import METADATA, Workspace, collection, selector

LIMITED = 0.9
"""The share of a core from which the client's one thread may be what limits a rate."""
FEW = 100
"""Operations of which the 99th percentile is the slowest one."""
HOUR = 3600.0
SEED = "bench-"
"""The names of the objects of lists begin so."""

Show = Callable[[str, float, Sample | None], None]
"""Called with the name of a case, the share of it that is over, and the last sample."""


class Runner:
    """One run."""

    def __init__(self, session: Session, options: BenchOptions, show: Show) -> None:
        self.session = session
        self.options = options
        self.show = show
        self.workspace = Workspace(session)
        self.results: list[Result] = []
        self.notes: list[str] = []
        self._seeded: str | None = None
        """Empty after seeding; the reason if it has failed."""
        self._scattered: str | None = None
        """The same of the objects in many namespaces."""

    def begin(self, cases: Sequence[str]) -> None:
        """Make what the cases need. Raise Stopped if the server does not answer."""
        if not self.session.pids:
            self.notes.append("no --pid: the server's CPU and memory are unknown")
        self.workspace.make()
        if self.options.resource == "pods" or "writes" in cases or "mixed" in cases:
            try:
                self.workspace.account()
            except Stopped as e:
                self.notes.append(str(e))

    def end(self) -> None:
        """Remove everything."""
        self.show("cleaning up", 0.0, None)
        self.workspace.end()

    def keep(self, result: Result) -> None:
        """Take a result among those of the run, with what has to be said of it."""
        self.results.append(result)
        self.notes += remarks(result)

    def measure(self, variant: Variant, seconds: float = 0.0) -> Result:
        """Run one case, for a time (0: that of the options). Whatever is wrong with it is in its result."""
        what, options = CASES[variant.case], self.options
        result = empty(variant.case, variant.name(options), variant.encoding, variant.packed(options), what.unit)
        try:
            if what.seeded and (why := self._seed()):
                raise Stopped(why)
            if variant.case == "namespaces" and (why := self._spread()):
                raise Stopped(why)
            version = self._version() if what.watches else 0
            pods = self._pods() if variant.case in ("writes", "mixed") and options.resource != "pods" else []
            wanted = variant.wanted(options, version, pods)
            if variant.case == "manager":
                wanted = wanted._replace(paths=self._watched())
                result["name"] = variant.name(options, wanted)
            self._measure(result, variant, wanted, seconds or options.duration)
        except Unreachable as e:
            result["status"], result["error"] = "unreachable", e.what
        except Stopped as e:
            self._refuse(result, e.what)
        if self.session.interrupted and result["status"] not in ("wrong", "skipped"):
            result["status"], result["error"] = "stopped", None
        return result

    def _refuse(self, result: Result, why: str | None) -> None:
        result["status"], result["error"] = "wrong", f"{result['case']} {result['encoding']}: {why}"

    def _ended(self, result: Result, outcome: dict[str, Any]) -> bool:
        """Note that a measurement ended without figures; return whether it did."""
        if outcome["skipped"] is not None:
            result["status"], result["skipped"] = "skipped", outcome["skipped"]
        elif outcome["error"] is not None:
            self._refuse(result, outcome["error"])
            if outcome["unreachable"]:
                result["status"] = "unreachable"
        return bool(result["status"] != "ok")

    def _measure(self, result: Result, variant: Variant, wanted: Wanted, seconds: float) -> None:
        case, name, options = CASES[variant.case], result["name"], self.options
        self.show(name, 0.0, None)
        parts = case.parts(wanted)
        if self._ended(result, self._first(parts, wanted.encoding, result["gzip"], self._scope(variant.case))):
            self.workspace.remove(wanted.pods)
            return
        rate, read_rate = variant.rates()
        measured = self.session.measure(
            parts,
            lambda share, sample: self.show(name, share, sample),
            encoding=wanted.encoding,
            gzip=result["gzip"],
            rate=rate,
            read_rate=read_rate,
            seconds=seconds,
            **self._scope(variant.case),
        )
        outcome = measured.outcome
        ended = self._ended(result, outcome)
        error = None
        if not ended and not self.session.interrupted and variant.case in ("writes", "mixed"):
            seeded = {item["name"] for item in self.workspace.owned if item["uid"] and item["name"].startswith(SEED)}
            error = self._compare(options.resource, outcome["written"], seeded)
            error = error or (self._compare("pods", outcome["beside"], set()) if wanted.pods else None)
        self.workspace.remove([*outcome["owned"], *wanted.pods])
        driven = next((at for at, part in enumerate(parts) if part["part"] == "writes"), 0)
        fill(result, measured, Schedule(driven, rate or read_rate, seconds, variant.connections(options)))
        if error is not None:
            self._refuse(result, error)
        elif not ended:
            result["proof"] = case.proof(wanted, outcome)

    def _first(self, parts: list[Part], encoding: str, gzip: bool, scope: dict[str, Any]) -> dict[str, Any]:
        """Read all objects once before the measurement, each checked member by member; return the outcome."""
        kinds = {part["part"] for part in parts}
        lists: list[Part] = [{"part": "list", "readers": 1}] if kinds & {"list", "pages"} else []
        starts: list[Part] = [{"part": "informers", "count": 1}] if "informers" in kinds else []
        outcome: dict[str, Any] = {"error": None, "skipped": None, "unreachable": False}
        for part in (*lists, *starts):
            outcome = self.session.measure([part], seconds=0.0, encoding=encoding, gzip=gzip, **scope).outcome
            if outcome["error"] is not None or outcome["skipped"] is not None:
                break
        return outcome

    def _scope(self, case: str) -> dict[str, Any]:
        """Return which objects a case is about: those of lists, those in many namespaces, or none but its own."""
        if case == "namespaces":
            return {"run": f"{self.session.run}s", "spread": SPREAD}
        return {} if CASES[case].seeded else {"objects": 0}

    def _watched(self) -> tuple[str, ...]:
        """Return the collections of a controller manager that the server has."""
        return tuple(path for path in MANAGER if self.session.get(f"{path}?limit=1", METADATA) is not None)

    def _spread(self) -> str:
        """Create the objects of many namespaces once; return the reason if that fails. Raise Stopped."""
        if self._scattered is None:
            self._scattered = ""
            for number in range(min(SPREAD, self.options.objects)):
                self.workspace.make_namespace(f"{self.session.namespace}-{number:04}")
            parts = [{"part": "seed", "connections": min(32, self.options.objects)}]
            outcome = self.session.measure(parts, seconds=HOUR, **self._scope("namespaces")).outcome
            self.workspace.owned.extend(outcome["owned"])
            self._scattered = f"seeding: {outcome['error']}" if outcome["error"] else ""
        return self._scattered

    def _seed(self) -> str:
        """Create the objects of lists once; return the reason if that fails."""
        if self._seeded is None:
            self.show("seeding", 0.0, None)
            connections = min(32, self.options.objects)
            parts = [{"part": "seed", "connections": connections}]
            wanted = self.options.objects

            def show(_share: float, sample: Sample) -> None:
                self.show("seeding", min(sample.t * sample.per_second / wanted, 1.0), sample)

            outcome = self.session.measure(parts, show, seconds=HOUR).outcome
            self.workspace.owned.extend(outcome["owned"])
            self._seeded = f"seeding: {outcome['error']}" if outcome["error"] else ""
            if outcome["unreachable"]:
                raise Unreachable(self._seeded)
        return self._seeded

    def _version(self) -> int:
        """Return the present version of the collection. Raise Stopped."""
        path = f"{collection(self.session.namespace, self.options.resource)}?limit=1"
        listed = self.session.get(path)
        try:
            return int(listed["metadata"]["resourceVersion"])
        except (TypeError, KeyError, ValueError):
            raise Stopped("a list without a resourceVersion that is a number", mend(404)) from None

    def _pods(self) -> list[dict[str, Any]]:
        """Make a pod for each writer, whose status it writes where the objects have none."""
        path = f"/api/v1/namespaces/{self.session.namespace}/pods"
        made: list[dict[str, Any]] = []
        for number in range(WRITERS):
            meta = {"name": f"status-{number:02}", "labels": {"hydrofoil.dev/bench": self.session.run}}
            container = {"name": "bench", "image": "registry.invalid/bench"}
            spec = {
                "schedulerName": "hydrofoil.dev-bench-none",
                "automountServiceAccountToken": False,
                "containers": [container],
            }
            body = {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}
            pod: dict[str, Any] = {"path": path, "name": meta["name"], "uid": None}
            made.append(pod)
            try:
                status, answer = self.session.call("POST", path, body)
                if status == 201:
                    pod["uid"] = uid(answer, f"pod {meta['name']}")
            except Stopped:
                self.workspace.remove(made)
                raise
            if status != 201:
                self.notes.append(f"no status is written: a pod cannot be made: {message(answer)}")
                self.workspace.remove(made[:-1])
                return []
        return made

    def _compare(self, resource: str, written: list[dict[str, Any]], seeded: set[str]) -> str | None:
        """Compare the stored objects of a resource with the last write of each; return what differs. Raise Stopped."""
        path = f"{collection(self.session.namespace, resource)}?{selector(self.session.run)}"
        metas = self.session.metas(path, METADATA)
        listing = {meta["name"]: meta["resourceVersion"] for meta in metas}
        for before, after in pairwise(meta["name"] for meta in metas):
            if before >= after:
                return f"{after} is listed {'twice' if before == after else f'after {before}'}"
        if missing := seeded.difference(listing):
            return f"{min(missing)} is lost after the writes"
        for item in written:
            found = listing.get(item["name"])
            if item["unsure"]:
                continue
            if item["alive"] and found is None:
                return f"{item['name']} was acknowledged and is lost"
            if not item["alive"] and found is not None:
                return f"{item['name']} was deleted and is still listed"
            if found is not None and item["version"] is not None and found != str(item["version"]):
                return f"{item['name']} is stored with resourceVersion {found}, its writer was given {item['version']}"
        return None


def remarks(result: Result) -> list[str]:
    """Return what has to be said of figures: what limited them, and how few operations they are of."""
    found = []
    if (result["client_busy"] or 0.0) > LIMITED:
        share = f"{result['client_busy']:.0%}"
        found.append(f"{result['name']}: the client was the limit: its one thread was busy for {share} of the time")
    if result["status"] == "overloaded":
        behind = f"{result['backlog_seconds']:.1f} s"
        found.append(f"{result['name']}: overloaded: at the end the server was {behind} behind, and would fall further")
    return found


def few(results: Sequence[Result]) -> list[str]:
    """Return a line on the results of so few operations that their 99th percentile is the slowest one."""
    names = [result["name"] for result in results if result["ops"] and result["ops"] < FEW]
    return [f"fewer than {FEW} operations, so that the p99 is the slowest one: {', '.join(names)}"] if names else []


def document(runner: Runner, url: str, version: str, now: datetime, facts: dict[str, Any]) -> dict[str, Any]:
    """Return the results of a run with their circumstances."""
    transport = "tls" if url.startswith("https") else "plain"
    return {
        "schema": 1,
        "time": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "label": runner.options.label,
        "server": {
            "url": url,
            "gitVersion": version,
            "transport": transport,
            "workers": workers(runner.session.pids),
        },
        "machine": facts,
        "options": runner.options.shown(),
        "results": runner.results,
        "wrong": sum(result["status"] == "wrong" for result in runner.results),
        "unreachable": sum(result["status"] == "unreachable" for result in runner.results),
        "left": len(runner.workspace.left),
        "notes": runner.notes + few(runner.results),
    }
