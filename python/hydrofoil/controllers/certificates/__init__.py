"""Requests for certificates: they are approved, signed and removed (`pkg/controller/certificates`).

`approver.py` approves the requests of kubelets, `signer.py` signs approved ones with the authority that flags name, and
`authority.py` is that authority; `cleaner.py` removes old requests. `request.py` reads and checks a request.
"""
