"""The server, composed of its parts.

Its files: `config.py` (the options of all rooms), `part.py` (what a feature adds to a server), `parts/` (a function
for each), `app.py` (their list), `chain.py` (the places of filters), `run.py` (start and stop), `controllers.py`
(those that run here), `process.py` (signals and memory of the process), `state_file.py` (how commands find it),
`manifests.py` (objects that files give it), `bootstrap.py` (objects that every cluster has), `rehearsal.py` (a server
to try changes on), `listening.py` (sockets), `certificates.py` (all that a server presents) with `serving.py` (files,
read again when they change), `identity.py` (certificates of its own) and `in_memory_certificate.py` (TLS on the plain
port of a test's server), `kubeconfig.py` and `kubeconfig_file.py` (what clients need, merged into a user's file),
`health.py`, `metrics.py` (with `request_metrics.py`, `login_metrics.py`,
`watch_metrics.py`, `store_metrics.py`, `queue_metrics.py`, `build_metrics.py`, `extension_metrics.py`: plain numbers
until someone looks), `banner.py`, `nonresource.py` (non-resource paths), `zpages.py` and `debug.py` (flags, state,
profiles).
"""
