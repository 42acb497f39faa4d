"""Admission of writes, between the request and the registry: mutating and validating plug-ins.

`chain.py` runs the plug-ins, `order.py` is their order, `plugins/` has one plug-in per file, `pod_security/` the
rules of Pod Security. `configuration.py` reads the file that configures plug-ins, `charges.py` charges quotas so that
all servers of a log count, `phases.py` counts their durations, `plugin_dependencies.py` has the parts of a server
that they use. `matching/` finds the requests that concern webhooks and policies (`matching/versioned_request.py` is a
request in the versions that they ask for), and `mutation.py` takes back what they change; `lazy_plugin.py` loads the
modules of both with the first. `webhooks/` has configurations (`webhooks/source.py`), reviews, calls and the two
orders of calling; `policies/` has policies, their bindings and parameters, and the two kinds of evaluation.

The configurations of webhooks, policies and bindings are states that follow events: without any, a write costs one look
at it and nothing is imported. Expressions (`rust/cel/src/admission.rs`) are evaluated on the canonical JSON of the
objects. They cannot wait: a question to the authorizer that has no answer yet ends the evaluation, and it is repeated
with the answer (`admission/matching/questions.py`). All expressions of a turn of the loop have a share of it
(`pace/shares.py`); those that take longer begin anew off it, within upstream's limits. A policy is compiled when it is
first used after a change. A webhook's patch is applied to the JSON of the version that its rule names; the result is
decoded, defaulted and checked to be the same object before it becomes the draft. Connections are shared by webhooks of
one server and bundle, and end after their calls once no configuration names them.
"""
