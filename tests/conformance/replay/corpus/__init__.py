"""Corpora: cases of one request each, with the answer of kube-apiserver, as compressed JSON lines.

    {"id": "v1/pods/typical/number/spec.containers.0.ports.0.containerPort/1",
     "resource": "v1/pods", "class": "number", "verb": "POST", "path": "/api/v1/namespaces/corpus/pods?dryRun=All",
     "body": {...} | "raw": "text", "type": "application/json", "accept": "application/json",
     "before": [{"path": "/api/v1/...", "body": {...}, "status": {...}}],
     "answer": {"code": 422, "body": {...}, "warnings": ["..."]}}

`before` lists objects that are really created (POST to `path`, then `status` is patched in through /status), in order,
and deleted afterwards; a case that follows with the same `before` uses the same objects. `raw` is a body sent as it is.
In strings of a request ${rv} and ${uid} are those of the last object of `before`, ${repeat:N:c} is N times c.
Namespaces named in a path are created where they are missing.
"""
