"""Native evaluation of a simple policy, with its object read anew each time."""

from __future__ import annotations

from typing import Any

import orjson

from hydrofoil.engine import Document, Expressions

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "namespace": "default", "labels": {"app": "web"}},
    "spec": {"containers": [{"name": f"c{n}", "image": "registry/web:1", "resources": {}} for n in range(2)]},
}
REQUEST = Document(orjson.dumps({"operation": "CREATE", "userInfo": {"username": "u"}, "dryRun": False}))
BUDGET = 10_000_000


def test_policy(benchmark: Any) -> None:
    """One validation over the containers of a pod of two."""
    policy = Expressions(["object.spec.containers.all(c, c.image.startsWith('registry/'))"], authorizer=True)
    data = orjson.dumps(POD)

    def once() -> bytes | None:
        found, _, _ = policy.evaluate(REQUEST, Document(data), None, None, None, [], BUDGET, 20_000)
        return found[0][0]

    assert benchmark(once) == b"true"


def test_variables(benchmark: Any) -> None:
    """The same by a variable that two validations share."""
    variables = [("images", "object.spec.containers.map(c, c.image)")]
    texts = ["variables.images.all(i, i.startsWith('registry/'))", "size(variables.images) < 10"]
    policy = Expressions(texts, variables, authorizer=True)
    pod = Document(orjson.dumps(POD))

    def once() -> int:
        found, _, _ = policy.evaluate(REQUEST, pod, None, None, None, [], BUDGET, 20_000)
        return len(found)

    assert benchmark(once) == 2
