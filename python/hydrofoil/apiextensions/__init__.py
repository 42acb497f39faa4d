"""Custom resource definitions: the resources they serve, their status, and the removal of their instances.

Its files: `definitions.py` (the strategy of definitions), `served.py` (resources that they publish), `status.py` with
`name_conflicts.py` (accepted names) and `conditions.py` (established, approved), `finalizer.py` (instances of a
deleted definition), `conversion.py` and `review.py` (webhooks), `scale.py`.
"""
