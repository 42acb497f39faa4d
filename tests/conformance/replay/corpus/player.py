"""Cases in order, with the objects of `before` kept while the next case needs the same."""

from __future__ import annotations

import json
import re
import time
from typing import Any

from tests.conformance.replay.corpus.connection import Connection
from tests.conformance.replay.corpus.placeholders import hide_cells, normalise
from tests.conformance.replay.paths import Object

REPEAT = re.compile(r"\$\{repeat:(\d+):([^}]*)\}")
NAMESPACE = re.compile(r"/namespaces/([^/?]+)/")
MERGE = "application/merge-patch+json"
WATCHED = {
    *("Namespace", "ResourceQuota", "LimitRange", "PriorityClass", "RuntimeClass", "StorageClass", "IngressClass"),
    *("PodDisruptionBudget", "CustomResourceDefinition", "APIService", "FlowSchema", "PriorityLevelConfiguration"),
    *("ServiceCIDR", "VolumeAttributesClass"),
}
"""Kinds that parts of a server watch: an object of them may take a moment to have its effect."""
FORCE = {"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0, "propagationPolicy": "Background"}
KEPT = 58
"""How many characters of `generateName` a server keeps."""


class SetUpError(Exception):
    """An object of `before` was refused."""


class Player:
    """Plays cases; `settle` are the seconds to wait after the creation of an object that parts of a server watch."""

    def __init__(self, server: Connection, settle: float = 0.3) -> None:
        self.server = server
        self.settle = settle
        self._namespaces = {"default", "kube-system"}
        self._current: str | None = None
        self._objects: list[str] = []
        self._values: dict[str, str] = {}

    def play(self, case: Object) -> Object:
        """Send the request of a case and return the answer, with placeholders; code 0 if its objects were refused."""
        try:
            self._prepare(case.get("before"))
        except SetUpError as error:
            self._current = "failed"
            return {"code": 0, "body": str(error)}
        self._ensure_namespace(case["path"])
        body: bytes | None = None
        if "raw" in case:
            body = expand(case["raw"], self._values).encode()
        elif "body" in case:
            body = expand(json.dumps(case["body"]), self._values).encode()
        types = case.get("type", "application/json"), case.get("accept", "application/json")
        code, answer, warnings = self.server.send(case["verb"], expand(case["path"], self._values), body, *types)
        sent = (body or b"").decode("utf-8", "replace") + json.dumps(case.get("before") or [])
        for value in self._values.values():  # the values of this run become placeholders again
            sent = sent.replace(f'"{value}"', '""')
        out: Object = {"code": code, "body": normalise(_sorted(answer, sent), sent, _prefix(case))}
        if warnings:
            out["warnings"] = normalise(warnings, sent)
        return out

    def clean(self) -> None:
        """Remove the objects of the last case."""
        for name in reversed(self._objects):
            self._remove(name)
        self._objects, self._current, self._values = [], None, {}

    def _prepare(self, before: list[Object] | None) -> None:
        wanted = json.dumps(before) if before else None
        if wanted == self._current:
            return
        self.clean()
        self._current = wanted
        for step in before or []:
            answer = self._create(step)
            self._values = {"rv": answer["metadata"]["resourceVersion"], "uid": answer["metadata"]["uid"]}
        if any(step["body"]["kind"] in WATCHED for step in before or []):
            time.sleep(self.settle)
            code, answer = self.server.call("GET", self._objects[-1])
            if code == 200:
                self._values["rv"] = answer["metadata"]["resourceVersion"]

    def _create(self, step: Object) -> Any:
        """Create an object with its status; one that is left from another case is replaced."""
        body, path = step["body"], step["path"]
        if body["kind"] == "Namespace":
            self._namespaces.add(body["metadata"]["name"])
        self._ensure_namespace(path)
        name = f"{path.split('?')[0]}/{body['metadata']['name']}"
        text = expand(json.dumps(body), {}).encode()
        code, answer, _ = self.server.send("POST", path, text)
        if code == 409 and body["kind"] != "Namespace":
            self._remove(name)
            code, answer, _ = self.server.send("POST", path, text)
        if code == 409:
            code, answer = self.server.call("GET", name)
        if code not in (200, 201):
            raise SetUpError(f"before: {path}: {code} {_message(answer)}")
        self._objects.append(name)
        if "status" in step:
            code, answer = self.server.call("PATCH", name + "/status", {"status": step["status"]}, MERGE)
            if code != 200:
                raise SetUpError(f"before: {name}/status: {code} {_message(answer)}")
        return answer

    def _ensure_namespace(self, path: str) -> None:
        if (match := NAMESPACE.search(path)) and match[1] not in self._namespaces:
            self._namespaces.add(match[1])
            namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": match[1]}}
            self.server.call("POST", "/api/v1/namespaces", namespace)

    def _remove(self, name: str) -> None:
        code, answer = self.server.call("GET", name)
        if code != 200 or not isinstance(answer, dict):
            return
        if answer["metadata"].get("finalizers"):
            self.server.call("PATCH", name, {"metadata": {"finalizers": None}}, MERGE)
        self.server.call("DELETE", name, FORCE)
        if answer.get("kind") == "Namespace":
            code, answer = self.server.call("GET", name)
            if code == 200:
                answer["spec"] = {"finalizers": []}
                self.server.call("PUT", name + "/finalize", answer)
            self._namespaces.discard(name.rsplit("/", 1)[1])


def expand(text: str, values: dict[str, str]) -> str:
    """Return a text with its names and repetitions filled in."""
    for name, value in values.items():
        text = text.replace("${" + name + "}", value)
    return REPEAT.sub(lambda m: m[2] * int(m[1]), text)


def _message(answer: Any) -> Any:
    return answer.get("message") if isinstance(answer, dict) else answer


def _prefix(case: Object) -> str | None:
    """Return the beginning of the name that a server generates."""
    meta = case["body"].get("metadata") if isinstance(case.get("body"), dict) else None
    generated = meta.get("generateName") if isinstance(meta, dict) and not meta.get("name") else None
    return expand(generated, {})[:KEPT] if isinstance(generated, str) else None


def _sorted(answer: Any, sent: str) -> Any:
    """Return an answer with random orders sorted, and a table with its cells alone."""
    if isinstance(answer, dict) and answer.get("kind") == "SelfSubjectRulesReview":
        rules = answer.get("status")
        for items in rules.values() if isinstance(rules, dict) else []:
            if isinstance(items, list):
                items.sort(key=json.dumps)
    if isinstance(answer, dict) and answer.get("kind") == "Table":
        hide_cells(answer, sent)
        for row in answer.get("rows") or []:
            row.pop("object", None)
    return answer
