"""The cases of a run, one after the other, and the document of their results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any

from hydrofoil.bench import machine
from hydrofoil.bench.cases import CASES, WRITERS, Wanted
from hydrofoil.bench.failure import Stopped, mend
from hydrofoil.bench.options import BenchOptions
from hydrofoil.bench.result import Result, empty, fill
from hydrofoil.bench.session import Part, Sample, Session, message, uid
from hydrofoil.bench.workspace import METADATA, Workspace, selector

BUSY = 0.5
"""The load for each core at which figures are called noisy."""
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

    def run(self, cases: Sequence[str]) -> None:
        """Run cases with each encoding; then remove everything. Raise Stopped if the server does not answer."""
        load = machine.load_average()
        try:
            self.workspace.make()
            if self.options.resource == "pods" or "writes" in cases or "mixed" in cases:
                self._account()
            for case in cases:
                for encoding in self.options.encoding:
                    if self.session.interrupted:
                        return
                    self.results.append(self._case(case, encoding))
        finally:
            self.show("cleaning up", 0.0, None)
            self.workspace.end()
            self._noise(load)

    def _account(self) -> None:
        try:
            self.workspace.account()
        except Stopped as e:
            self.notes.append(str(e))

    def _noise(self, before: float) -> None:
        cores = machine.facts()["cores"] or 1
        if before > BUSY * cores:
            self.notes.append(f"load average {before:g} at the start: noisy")
        if not self.session.pids:
            self.notes.append("no --pid: the server's CPU and memory are unknown")

    def _case(self, case: str, encoding: str) -> Result:
        """Run one case with one encoding. Whatever is wrong with it is in its result."""
        what, options = CASES[case], self.options
        packed = options.gzip and case in ("list", "pages", "mixed")
        wanted = Wanted(options, encoding, 0, [])
        name = f"{case} {encoding}{'+gzip' if packed else ''} {what.shape(wanted)}"
        result = empty(case, name, encoding, packed, what.unit)
        try:
            if what.seeded and (why := self._seed()):
                raise Stopped(why)
            version = self._version() if what.watches else 0
            pods = self._pods() if case in ("writes", "mixed") and options.resource != "pods" else []
            wanted = wanted._replace(version=version, pods=pods)
            self._measure(result, wanted)
        except Stopped as e:
            result["error"] = f"{case} {encoding}: {e.what}"
        return result

    def _measure(self, result: Result, wanted: Wanted) -> None:
        case, name, options = CASES[result["case"]], result["name"], self.options
        self.show(name, 0.0, None)
        parts = case.parts(wanted)
        rate = 0.0 if result["case"] == "writes" else options.rate
        first = self._first(parts, wanted.encoding, result["gzip"])
        if first["error"] is not None or first["skipped"] is not None:
            result["skipped"] = first["skipped"]
            result["error"] = first["error"] and f"{result['case']} {result['encoding']}: {first['error']}"
            self.workspace.remove(wanted.pods)
            return
        measured = self.session.measure(
            parts,
            lambda share, sample: self.show(name, share, sample),
            encoding=wanted.encoding,
            gzip=result["gzip"],
            rate=rate,
            **({} if case.seeded else {"objects": 0}),
        )
        outcome = measured.outcome
        error = outcome["error"]
        if error is None and outcome["skipped"] is None and result["case"] in ("writes", "mixed"):
            seeded = {item["name"] for item in self.workspace.owned if item["uid"] and item["name"].startswith(SEED)}
            try:
                error = self._compare(options.resource, outcome["written"], seeded)
                error = error or (self._compare("pods", outcome["beside"], set()) if wanted.pods else None)
            except Stopped as e:
                error = e.what
        self.workspace.remove([*outcome["owned"], *wanted.pods])
        fill(result, measured)
        result["skipped"] = outcome["skipped"]
        if error is not None:
            result["error"] = f"{result['case']} {result['encoding']}: {error}"
        elif outcome["skipped"] is None:
            result["proof"] = case.proof(wanted, outcome)
            if self.session.interrupted:
                result["error"] = f"{result['case']} {result['encoding']}: interrupted"

    def _first(self, parts: list[Part], encoding: str, gzip: bool) -> dict[str, Any]:
        """Read all objects once before the measurement, each checked member by member; return the outcome."""
        kinds = {part["part"] for part in parts}
        lists: list[Part] = [{"part": "list", "readers": 1}] if kinds & {"list", "pages"} else []
        starts: list[Part] = [{"part": "informers", "count": 1}] if "informers" in kinds else []
        outcome: dict[str, Any] = {"error": None, "skipped": None}
        for part in (*lists, *starts):
            outcome = self.session.measure([part], seconds=0.0, rate=0.0, encoding=encoding, gzip=gzip).outcome
            if outcome["error"] is not None or outcome["skipped"] is not None:
                break
        return outcome

    def _seed(self) -> str:
        """Create the objects of lists once; return the reason if that fails."""
        if self._seeded is None:
            self.show("seeding", 0.0, None)
            connections = min(32, self.options.objects)
            parts = [{"part": "seed", "connections": connections}]
            wanted = self.options.objects

            def show(_share: float, sample: Sample) -> None:
                self.show("seeding", min(sample.t * sample.per_second / wanted, 1.0), sample)

            outcome = self.session.measure(parts, show, seconds=HOUR, rate=0.0).outcome
            self.workspace.owned.extend(outcome["owned"])
            self._seeded = f"seeding: {outcome['error']}" if outcome["error"] else ""
        return self._seeded

    def _version(self) -> int:
        """Return the present version of the collection. Raise Stopped."""
        path = f"/api/v1/namespaces/{self.session.namespace}/{self.options.resource}?limit=1"
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
        path = f"/api/v1/namespaces/{self.session.namespace}/{resource}?{selector(self.session.run)}"
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


def document(runner: Runner, url: str, version: str, now: datetime, facts: dict[str, Any]) -> dict[str, Any]:
    """Return the results of a run with their circumstances."""
    transport = "tls" if url.startswith("https") else "plain"
    return {
        "schema": 1,
        "time": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "label": runner.options.label,
        "server": {"url": url, "gitVersion": version, "transport": transport},
        "machine": facts,
        "options": runner.options.shown(),
        "results": runner.results,
        "wrong": sum(result["error"] is not None for result in runner.results),
        "left": len(runner.workspace.left),
        "notes": runner.notes,
    }
