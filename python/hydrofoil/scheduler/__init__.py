"""The scheduler: it binds pods to nodes as the default profile of kube-scheduler does (`pkg/scheduler`).

`scheduler.py` has the queue of pods, the outcome of each attempt, and which events let a pod be tried again, and
`attempt.py` is one attempt, with the filters of `profile.py`. `cluster.py` is what is on the nodes, `node_info.py` one
of them, `requests.py` what a pod takes. `filters/` say why a node is refused, a file each, `scores.py` which of the
others is best, `preemption.py` whose pods go for one of a higher priority. `terms.py` has terms of affinity.
"""
