"""Why an object is not ready: one answer that follows owners, pods, claims, nodes, quota and webhooks.

`reader.py` reads objects through the API, so that any server can be asked. `answer.py` collects causes and puts the
most likely one first; `workloads.py`, `pods.py` and `others.py` find them, by kind.
"""
