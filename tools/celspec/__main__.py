"""Runs google/cel-spec's cases as rules of custom resources: `python -m tools.celspec --server URL FOLDER`.

FOLDER is `tests/simple/testdata` of a copy of the module cel.dev/expr. Kubernetes refuses some cases on purpose (lists
of mixed types, libraries that it does not enable): kube-apiserver 1.36 is the measure, not the whole of the cases.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import urllib.error
import urllib.request
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any

from .cases import Case, cases

BATCH = 40
"""Rules of one definition."""
GROUP, PLURAL = "celspec.example.com", "cases"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
OBJECTS = f"/apis/{GROUP}/v1/{PLURAL}"
PLACE = re.compile(r"\bp(\d+)\b")


class Server:
    """Calls of one server."""

    def __init__(self, url: str) -> None:
        self._url = url

    def call(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Return the status and the body of an answer."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self._url + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as e:
            with e:
                return e.code, json.loads(e.read())


def causes(answer: Any) -> dict[int, str]:
    """Return the message of each rule that failed in an answer, by its number."""
    found = {}
    for cause in answer.get("details", {}).get("causes", ()):
        if match := PLACE.search(cause["field"]):
            found[int(match[1])] = cause["message"]
    return found


def definition(batch: dict[int, Case]) -> dict[str, Any]:
    """Return a definition with a rule for each member of `spec`."""
    properties = {f"p{i}": {**c.schema, "x-kubernetes-validations": [{"rule": c.rule}]} for i, c in batch.items()}
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": properties}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"plural": PLURAL, "singular": "case", "kind": "Case", "listKind": "CaseList"}
    spec = {"group": GROUP, "scope": "Cluster", "names": names, "versions": [version]}
    kind = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
    return {**kind, "metadata": {"name": f"{PLURAL}.{GROUP}"}, "spec": spec}


def run(server: Server, batch: dict[int, Case]) -> tuple[dict[int, str], dict[int, str]]:
    """Return the rules that do not compile, and those that fail, with their messages."""
    refused: dict[int, str] = {}
    while left := {i: c for i, c in batch.items() if i not in refused}:
        code, answer = server.call("POST", DEFINITIONS, definition(left))
        if code == 201:
            break
        more = causes(answer)
        if not more:
            raise SystemExit(f"the definition is refused: {answer.get('message')}")
        refused |= more
    spec = {f"p{i}": c.value for i, c in left.items()}
    body = {"apiVersion": f"{GROUP}/v1", "kind": "Case", "metadata": {"name": "case"}, "spec": spec}
    while (found := server.call("POST", f"{OBJECTS}?dryRun=All", body))[0] in (404, 429, 503):
        # Definitions are served a moment after they are written elsewhere.
        continue
    if left:
        server.call("DELETE", f"{DEFINITIONS}/{PLURAL}.{GROUP}")
        while server.call("GET", f"{DEFINITIONS}/{PLURAL}.{GROUP}")[0] == 200:
            continue
    return refused, causes(found[1])


def main() -> int:
    """Print figures; return 0 if every case passes as specified."""
    parser = argparse.ArgumentParser(prog="celspec", description=__doc__)
    parser.add_argument("--server", required=True, metavar="URL")
    parser.add_argument("--show", action="store_true", help="print each case that differs")
    parser.add_argument("folder", type=Path)
    given = parser.parse_args()
    server = Server(given.server)
    left_out: dict[str, int] = {}
    passed, failed = Counter[str](), Counter[str]()
    numbered = enumerate(cases(given.folder, left_out))
    while batch := dict(islice(numbered, BATCH)):
        refused, broken = run(server, batch)
        for i, c in batch.items():
            why = refused.get(i) or broken.get(i)
            fine = why is None if c.wanted == "true" else why is not None and not why.endswith("failed rule")
            (passed if fine else failed)[c.name.partition("/")[0]] += 1
            if not fine and given.show:
                print(f"{c.name}: {c.rule}\n    {why or 'holds'}")
    for name in sorted({*passed, *failed}):
        print(f"{name:20} {passed[name]:5} of {passed[name] + failed[name]}")
    print(
        f"{'all':20} {passed.total():5} of {passed.total() + failed.total()}; {sum(left_out.values())} not to be said"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
