"""Calls to other servers: connections, trust, and bounds of responses.

Its files: `connections.py` (a session with one server), `trust.py` (certificates and Go's error texts), `bounds.py`
(sizes of answers), `services.py` (addresses of services), `proxy.py` and `upgrade.py` (requests passed on).
`client.py` loads aiohttp's client on first use. `kubeconfig.py` reads the servers of webhooks, `target.py` calls
them; `endpoint.py` is the address of one in a configuration object. `review.py` posts reviews to both, in client-go's
words for failures and with its rules on another attempt.
"""
