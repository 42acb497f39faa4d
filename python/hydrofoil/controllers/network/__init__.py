"""The endpoints of services (`pkg/controller/endpoint`, `endpointslice`, `endpointslicemirroring`).

`endpoint.py` and `endpoint_slice.py` follow services and the pods that they select (`service_controller.py`,
`service_pods.py`); `endpoint_slice_mirroring.py` follows Endpoints that users write. Subsets of Endpoints have one form
(`subsets.py`). Slices are planned (`slice_plan.py`) for pods (`service_slices.py`, `slice_reconciler.py`) or for
Endpoints (`mirrored_slices.py`), and written by `slice_writer.py`. Hints follow the traffic distribution of a service
(`traffic_distribution.py`) or the CPUs of zones (`topology_cache.py`).
"""
