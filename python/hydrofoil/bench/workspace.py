"""The namespace of a run: made before, and removed after it with all that the run made."""

from __future__ import annotations

from typing import Any

from hydrofoil.bench.failure import Stopped, mend
from hydrofoil.bench.session import Session, message, meta, uid
from hydrofoil.clock import stopwatch

LABEL = "hydrofoil.dev/bench"
PREFIX = "hydrofoil-bench-"
METADATA = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json"
CONNECTIONS = 16
"""Connections that make and remove objects."""
QUIET = 1.0
"""Seconds after which a namespace that no controller looks at is ended here."""
BUSY = 60.0
"""Seconds that a controller may take for a namespace."""
Owned = dict[str, Any]


CUSTOM = "/apis/bench.hydrofoil.dev/v1"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
DEFINITION = "records.bench.hydrofoil.dev"
FIELDS = {"type": "object", "properties": {"mark": {"type": "string"}, "text": {"type": "string"}}}


def collection(namespace: str, resource: str) -> str:
    """Return the path of the objects of a kind in a namespace."""
    group, plural = (CUSTOM, "records") if resource == "custom" else ("/api/v1", resource)
    return f"{group}/namespaces/{namespace}/{plural}"


def definition(run: str) -> Owned:
    """Return the definition of the custom resource, whose objects have the data of config maps."""
    schema = {"type": "object", "properties": {"data": FIELDS}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"plural": "records", "singular": "record", "kind": "Record", "listKind": "RecordList"}
    spec = {"group": "bench.hydrofoil.dev", "scope": "Namespaced", "names": names, "versions": [version]}
    meta = {"name": DEFINITION, "labels": {LABEL: run}}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": meta, "spec": spec}


def selector(run: str = "") -> str:
    """Return the query for the objects of a run, or of all runs."""
    return "labelSelector=hydrofoil.dev%2Fbench" + (f"%3D{run}" if run else "")


class Workspace:
    """The objects of a run, and how they are removed."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._spaces: list[Owned] = []
        """The namespaces that the run made."""
        self._definition: Owned | None = None
        """The definition of the custom resource, if the run made it."""
        self.owned: list[Owned] = []
        self.left: list[str] = []
        """The objects that could not be removed, with the reasons."""

    def make(self) -> None:
        """Make the namespace, unless one was given that exists, and a definition if it is needed. Raise Stopped."""
        session = self.session
        given = session.load.namespace and session.get(f"/api/v1/namespaces/{session.namespace}") is not None
        if not given:
            self.make_namespace(session.namespace)
        if session.load.resource == "custom":
            self._define()

    def make_namespace(self, name: str) -> None:
        """Make a namespace, which is removed at the end. Raise Stopped."""
        session = self.session
        labelled = {"name": name, "labels": {LABEL: session.run}}
        space: Owned = {"path": "/api/v1/namespaces", "name": name, "uid": None}
        self._spaces.append(space)
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": labelled}
        status, answer = session.call("POST", "/api/v1/namespaces", body)
        if status != 201:
            self._spaces.remove(space)
            raise Stopped(f"namespace {name} cannot be made: {status}: {message(answer)}", mend(status, answer))
        space["uid"] = uid(answer, f"namespace {name}")

    def _define(self) -> None:
        """Make the custom resource, unless another run has made it, and wait until it is served. Raise Stopped."""
        session = self.session
        status, answer = session.call("POST", DEFINITIONS, definition(session.run))
        if status not in (201, 409):
            what = f"a custom resource cannot be made: {status}: {message(answer)}"
            raise Stopped(what, mend(status, answer))
        if status == 201:
            self._definition = {"path": DEFINITIONS, "name": DEFINITION, "uid": uid(answer, DEFINITION)}
        start = stopwatch()
        while session.get(f"{collection(session.namespace, 'custom')}?limit=1") is None:
            if stopwatch() - start > BUSY:
                raise Stopped("the custom resource is not served", "the log of the server")

    def account(self) -> None:
        """Make the default account, which pods need, where no controller does."""
        path = f"/api/v1/namespaces/{self.session.namespace}/serviceaccounts"
        start = stopwatch()
        while self.session.get(f"{path}/default") is None:
            if stopwatch() - start < QUIET:
                continue
            labelled = {"name": "default", "labels": {LABEL: self.session.run}}
            account: Owned = {"path": path, "name": "default", "uid": None}
            self.owned.append(account)
            status, body = self.session.call(
                "POST", path, {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": labelled}
            )
            if status == 201:
                account["uid"] = uid(body, "serviceaccount default")
                return
            self.owned.remove(account)
            if status != 409:
                raise Stopped(f"no account for pods: {status}: {message(body)}", mend(status, body))

    def remove(self, owned: list[Owned]) -> None:
        """Remove objects by name and uid; those without a uid only if they are the run's."""
        known = [item for item in owned if item["uid"]]
        for item in owned:
            if not item["uid"] and (found := self._look(item)) is not None:
                known.append({**item, "uid": found})
        if not known:
            return
        session = self.session
        parts = [{"part": "remove", "connections": min(CONNECTIONS, len(known)), "items": known}]
        interrupted, session.interrupted = session.interrupted, False
        outcome = session.measure(parts, seconds=0).outcome
        session.interrupted = interrupted or session.interrupted
        self.left.extend(outcome["left"])
        if outcome["error"]:
            self.left.append(outcome["error"])

    def _look(self, item: Owned) -> str | None:
        """Return the uid of an object whose creation had no answer."""
        try:
            found = meta(self.session.get(f"{item['path']}/{item['name']}"))
        except Stopped as e:
            self.left.append(f"{item['name']}: {e.what}")
            return None
        made = (found.get("labels") or {}).get(LABEL) == self.session.run and "uid" in found
        return str(found["uid"]) if made else None

    def end(self) -> None:
        """Remove everything that the run made."""
        try:
            self.remove(self.owned)
            if self._definition is not None:
                self.remove([self._definition])
        except Stopped as e:
            self.left.append(e.what)
        start = stopwatch()
        for space in self._spaces:
            if (found := space["uid"] or self._look(space)) is not None:
                space["uid"] = found
                delete_namespace(self.session, space["name"], found, self.left)
        for space in [space for space in self._spaces if space["uid"]]:
            try:
                await_namespace(self.session, space["name"], space["uid"], self.left, start)
            except Stopped as e:
                self.left.append(f"namespace {space['name']}: {e.what}")


def remains(left: list[str]) -> str:
    """Return the line on what could not be removed; nothing if all was."""
    more = f", and {len(left) - 1} more" if len(left) > 1 else ""
    return f"hydrofoil: not removed: {left[0]}{more} (hydrofoil bench clean removes it later)\n" if left else ""


def remove_namespace(session: Session, name: str, uid: str, left: list[str]) -> None:
    """Delete a namespace, and end it if no controller does."""
    start = stopwatch()
    if delete_namespace(session, name, uid, left):
        await_namespace(session, name, uid, left, start)


def delete_namespace(session: Session, name: str, uid: str, left: list[str]) -> bool:
    """Delete a namespace; return whether its end has to be waited for."""
    options = {"kind": "DeleteOptions", "apiVersion": "v1", "preconditions": {"uid": uid}}
    try:
        status, body = session.call("DELETE", f"/api/v1/namespaces/{name}", options)
    except Stopped as e:
        left.append(f"namespace {name}: {e.what}")
        return False
    if status == 409 and b"recondition" in body:
        return False
    if status not in (200, 202, 404, 409):
        left.append(f"namespace {name}: status {status}: {message(body)}")
        return False
    return True


def await_namespace(session: Session, name: str, uid: str, left: list[str], start: float) -> None:
    """Wait for the end of a namespace that was deleted at a moment, and end it if no controller does. Raise Stopped."""
    path = f"/api/v1/namespaces/{name}"
    while (found := session.get(path)) is not None and meta(found).get("uid") == uid:
        waited = stopwatch() - start
        # A controller writes conditions, and made an account when the namespace was made.
        cared = (
            bool((found.get("status") or {}).get("conditions"))
            or session.get(f"{path}/serviceaccounts/default") is not None
        )
        if waited < QUIET or (cared and waited < BUSY):
            continue
        if cared or _content(session, path):
            left.append(f"namespace {name}: it has content")
            return
        found["spec"] = {**(found.get("spec") or {}), "finalizers": []}
        status, body = session.call("PUT", f"{path}/finalize", found)
        if status not in (200, 404, 409):
            left.append(f"namespace {name}: status {status}: {message(body)}")
            return


def _content(session: Session, path: str) -> bool:
    """Report whether a namespace has objects that a benchmark could have made."""
    for resource in ("configmaps", "pods"):
        found = session.get(f"{path}/{resource}?limit=1")
        if found is None or found.get("items"):
            return found is not None
    return False
