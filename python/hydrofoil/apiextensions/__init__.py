"""Custom resource definitions: the resources they serve, their status, and the removal of their instances.

Its files: `definitions.py` (the strategy of definitions), `served.py` (resources that they publish), `status.py` with
`name_conflicts.py` (accepted names) and `conditions.py` (established, approved), `finalizer.py` (instances of a
deleted definition), `conversion.py` and `review.py` (webhooks), `scale.py`.

A version of a definition is compiled (`rust/schema/src/custom/mod.rs`) into a type like those of the catalog: a schema
for codecs and merges, and a tree of nodes for pruning, defaults and validation. From there on a custom resource takes
the paths of the built-in kinds, as another implementation of the engine's trait (`rust/engine/src/kind/custom/mod.rs`).
Its JSON keeps keys sorted below the top, as upstream's maps do, so its types are *open* (unknown members stay) or
*closed* (they are pruned). Empty containers are values. Every rule that upstream has in Go types (which list is a map
by which key) is read from the compiled schema. `x-kubernetes-validations` are compiled with a definition and kept in
the nodes of its schema; types and estimated cost decide which rules may be written, upstream's budget bounds their run,
and unchanged parts of an object are not held against it.

The work of upstream's controllers for definitions is done by queues of keys: names and their conflicts, conditions and
approval (`apiextensions/status.py`), the deletion of instances (`apiextensions/finalizer.py`). Each begins with the
present object and ends in a conditional write, so that several servers over one log run them beside each other. A
definition is published as soon as its status allows it: the catalog swaps its resources between two turns of the loop
and counts the change (`catalog.changes`), which marks documents made of the catalog as stale. A request sees the
definition before or after, never between.

An object is stored in the storage version of the time of its write. Another version without a webhook is a change of
`apiVersion` at read; the stored bytes are still sliced wherever the versions are the same. With a webhook
(`apiextensions/conversion.py`) a list is converted in one call, and a version keeps its converted form beside the
stored one until the definition changes. All requests for a version in the same form share one call; a resource holds
the webhook that it was published with, so that calls in flight end on it when the definition changes.
"""
