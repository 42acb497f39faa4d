"""Simulated nodes: the part of a kubelet that controllers see, and nothing that runs.

`kubelet.py` takes on every Node with the annotation `sim.hydrofoil/node`, and brings its pods to where they should be;
`pod_status.py` and `node_status.py` are what it reports, `marks.py` the annotations of a pod that change this, and
`stagger.py` keeps pods that start together a little apart.
"""
