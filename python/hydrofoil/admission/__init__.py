"""Admission of writes, between the request and the registry: mutating and validating plug-ins.

`chain.py` runs the plug-ins, `order.py` is their order, `plugins/` has one plug-in per file, `pod_security/` the
rules of Pod Security. `configuration.py` reads the file that configures plug-ins, `charges.py` charges quotas so that
all servers of a log count, `phases.py` counts their durations, `plugin_dependencies.py` has the parts of a server
that they use. `matching/` finds the requests that concern webhooks and policies (`matching/versioned_request.py` is a
request in the versions that they ask for), and `mutation.py` takes back what they change; `lazy_plugin.py` loads the
modules of both with the first. `webhooks/` has configurations (`webhooks/source.py`), reviews, calls and the two
orders of calling; `policies/` has policies, their bindings and parameters, and the two kinds of evaluation.
"""
