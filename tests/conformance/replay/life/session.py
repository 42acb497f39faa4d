"""The run of a scenario about a cluster: the steps that wait, follow and read Events.

Steps beyond those of `scenario.py`:

    - namespace: NAME                          # makes it, waits for its default account; it goes at the end
    - {id: ..., do: GET ..., wait: [CHECK...], seconds: 60}   # repeat until all checks hold
    - {id: ..., do: GET ..., holds: 2, wait: [...]}           # ... and go on holding for 2 s
    - observe: {as: w, of: PATH, track: {LABEL: FIELD}}       # follow a collection in the background
    - {id: ..., observed: w, bounds: [EXPR...], order: [MOMENT...], never: [MOMENT...], count: {NAME: MOMENT}}
    - {id: ..., happened: /api/v1/namespaces/x, of: KIND/NAME, lines: 3}   # Events, once there are 3 different ones
    - {id: ..., happened: /api/v1/namespaces/x, of: KIND/NAME, match: [TEXT...]}   # these are among the Events
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial

from tests.conformance.replay.checks import holds
from tests.conformance.replay.client import Client
from tests.conformance.replay.exchange import exchange
from tests.conformance.replay.life.following import Following
from tests.conformance.replay.life.judgement import judge
from tests.conformance.replay.life.placeholders import shorten, simplify
from tests.conformance.replay.life.timing import Machine
from tests.conformance.replay.paths import Object
from tests.conformance.replay.placeholders import normalise, prepare
from tests.conformance.replay.scenario import Step, fill
from tests.conformance.replay.session import Session, failure

PAUSE = 0.1
"""Seconds between two tries of a step."""
PATIENCE = 60.0
"""The seconds for which a step is repeated, unless it says otherwise."""
ABSENT = 404
JUDGED = ("id", "bounds", "order", "never", "count")


class LifeSession(Session):
    """One run of one scenario."""

    def __init__(self, client: Client, time: Machine | None = None) -> None:
        super().__init__(client)
        self.time = time or Machine()
        self._followed: dict[str, Following] = {}
        self._namespaces: list[str] = []
        self._waits: dict[str, bool] = {}

    def answer(self, step: Step) -> Object | None:
        try:
            answer = self.run(step)
            if answer is None:
                return None
            if "observed" in step or "happened" in step:
                found: Object = normalise(simplify(answer), self.names)
                return found
            checks = {check: self._is_met(check, answer) for check in step.get("checks", [])}
            return self._prepare(answer, step, {**(self._waits if "wait" in step else {}), **checks})
        except Exception as error:
            return failure(error)

    def _prepare(self, answer: Object, step: Step, checks: dict[str, bool]) -> Object:
        paths = step.get("sort", [])
        bare = {**step, "sort": [path.removeprefix("body.") for path in paths]}
        found = prepare(simplify(answer), bare, self.names, checks)
        for path in paths:
            # What `only` has picked is sorted by itself.
            if isinstance(items := found.get(path), list):
                items.sort(key=lambda item: json.dumps(item, sort_keys=True))
        return found

    def run(self, step: Step) -> Object | None:
        if "namespace" in step:
            self._make_namespace(step["namespace"])
        elif "observe" in step:
            spec = fill(step["observe"], self.values)
            self._followed[spec["as"]] = Following(self.client, spec)
        elif "observed" in step:
            followed = self._followed[step["observed"]]
            followed.stop()
            judged = {key: fill(value, self.values) for key, value in step.items() if key in JUDGED}
            return judge(judged, followed.moments(), self.names)
        elif "happened" in step:
            return self._happened(step)
        elif "wait" in step:
            return self._wait(step)
        else:
            return super().run(step)
        return None

    def _send(self, method: str, path: str, body: Object | None = None) -> tuple[int, Object]:
        data = None if body is None else json.dumps(body).encode()
        connection = self.client.open(method, path, {"Content-Type": "application/json"}, data)
        try:
            return connection.response.status, json.loads(connection.response.read() or b"{}")
        finally:
            connection.close()

    def _make_namespace(self, name: str) -> None:
        self._namespaces.append(name)
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        self._send("POST", "/api/v1/namespaces", body)
        account = f"/api/v1/namespaces/{name}/serviceaccounts/default"
        self._await(lambda: self._send("GET", account)[0] == 200, PATIENCE)

    def _await(self, met: Callable[[], bool], seconds: float) -> None:
        end = self.time.now() + seconds
        while not met() and self.time.now() < end:
            self.time.pass_by(PAUSE)

    def _wait(self, step: Step) -> Object:
        end = self.time.now() + step.get("seconds", PATIENCE)
        checks = [step["wait"]] if isinstance(step["wait"], str) else step["wait"]
        since: float | None = None
        while True:
            answer = exchange(self.client, step, self.values)
            self._waits = {check: self._is_met(check, answer) for check in checks}
            now = self.time.now()
            since = (now if since is None else since) if all(self._waits.values()) else None
            if (since is not None and now - since >= step.get("holds", 0)) or now > end:
                return self.keep(step, answer)
            self.time.pass_by(PAUSE)

    def _is_met(self, check: str, answer: Object) -> bool:
        if answer.get("status") == ABSENT and not check.startswith("status"):
            # A Status has no uid either, but it is not the object that is made again.
            return False
        try:
            return holds(fill(check, self.values), answer)
        except (KeyError, TypeError):
            # It is not there yet.
            return False

    def _happened(self, step: Step) -> Object:
        end = self.time.now() + step.get("seconds", PATIENCE / 2)
        kind, name = fill(step["of"], self.values).split("/", 1)
        path = fill(step["happened"], self.values) + "/events"
        while True:
            lines = set()
            for event in self._send("GET", path)[1]["items"]:
                about = event["involvedObject"]
                if about["kind"] == kind and re.fullmatch(name, about["name"]):
                    by = event.get("reportingComponent") or event.get("source", {}).get("component")
                    lines.add(f"{event['type']} {event['reason']} {by}: {shorten(event.get('message', ''))}")
            late = self.time.now() > end
            if "match" in step:
                checks = {wanted: any(re.fullmatch(wanted, line) for line in lines) for wanted in step["match"]}
                if all(checks.values()) or late:
                    return {"checks": checks}
            elif len(lines) >= step.get("lines", 1) or late:
                return {"events": sorted(lines)}
            self.time.pass_by(PAUSE)

    def close(self) -> None:
        """Delete the namespaces of the file, and wait until they have gone."""
        for followed in self._followed.values():
            followed.stop()
        for name in self._namespaces:
            self._send("DELETE", f"/api/v1/namespaces/{name}")
        for name in self._namespaces:
            self._await(partial(self._is_gone, name), PATIENCE)

    def _is_gone(self, namespace: str) -> bool:
        return self._send("GET", f"/api/v1/namespaces/{namespace}")[0] == 404
