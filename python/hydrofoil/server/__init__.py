"""The server, composed of its parts.

Its files: `config.py` (the options of all rooms), `chain.py` (the order of a request), `app.py` (the parts of one
server), `run.py` (start and stop), `controllers.py` (those that run here), `process.py` (signals and memory of the
process), `source.py` (the log), `bootstrap.py` (objects that every cluster has), `listening.py` (sockets),
`serving.py` (certificates, read again when they change), `identity.py` (certificates of its own),
`in_memory_certificate.py` (TLS on the plain port of a test's server), `health.py`, `metrics.py` (with
`request_metrics.py`, `login_metrics.py`, `watch_metrics.py`, `store_metrics.py`, `queue_metrics.py`,
`build_metrics.py`, `extension_metrics.py`: plain numbers until someone looks), `banner.py`, `nonresource.py`
(non-resource paths), `zpages.py` and `debug.py` (flags, state, profiles).
"""
