"""The registry: the pipeline of objects between the request and the store.

One pipeline for every kind: `store.py` (create and update: the order of awaits), `deletion.py`, `session.py` (the
steps of a write, and where they are done), `immediate.py` (writes of the server's own for which nobody waits),
`replicas.py` (many new objects that are equal but for their names), `names.py` (names of new objects, and errors of
taken ones), `objects.py` (readers), `strategy.py` (steps that a kind may override), `kinds/` (the few kinds that do),
`allocation/` (cluster IPs, node ports; `allocation/records.py` has the IPAddress objects and
`allocation/port_records.py` the range of node ports by which several servers of one log choose apart), `fresh.py`
(refusals that rest on an old view), `object_locks.py` (writers of one large object), `outlines.py` (definitions
without their schemas).
"""
