"""Releases: what differs between minor versions of Kubernetes as data, and the value that a server follows.

The newest file (`1.36.json`) is whole: the feature gates with stage, default and lock, what they depend on
(`tools/catalog/gates.py`), the gates that resources need, and warnings of resources. Each other file has the difference
to the next newer one, so that a new release is a file. `Release` is the version with the states of its gates; the
native catalog gets it, and with it every step of a strategy (`rust/schema`).
"""
