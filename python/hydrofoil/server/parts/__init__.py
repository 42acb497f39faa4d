"""The parts of a server, a function for each: what a feature is made of, and what it adds to the whole.

`access.py` has authentication, authorization and impersonation, `admission.py` the plug-ins, `kinds.py` the strategies
of built-in kinds, `extensions.py` definitions and API services, `limits.py` the limits on requests, `observation.py`
audit, tracing, logs, health and pages, `first_objects.py` the objects of a new cluster, `controls.py` the controls of
a test, `front.py` the socket and its connections, and `running.py` the controllers. `server/app.py` lists them.
"""
