"""Controllers: loops that act on the objects of the API.

It has the loops of kube-controller-manager that `--controllers` names, on `runtime/`: `namespace.py` (with
`content.py`, which deletes what is in a namespace, here and behind API services, and `namespace_status.py`, its
conditions), `garbage.py` (with `reach.py`, which reads, changes and deletes objects here and behind API services, and
`remote_source.py`, which follows the latter), `protection.py`, `aggregation.py`, `accounts.py` (default accounts, the
server's authority in each namespace), `account_tokens.py`, `policy_status.py` (with `policy_types.py`: policies
checked by the types that they name); `table.py` lists them all, with their needs (`descriptor.py`). Those of
`workloads/`, `batch/`, `network/`, `policies/`, `volumes/` and `node/` make a cluster live, with the values of
`objects/`; those that own others share `adoption.py` (which objects are theirs), `pod_control.py` (writes of pods) and
`slow_start.py` (many writes), those whose selectors select pods `pod_selections.py`, and `written_versions.py` has what
a controller wrote and does not see yet. `addresses.py` and `ports.py` are part of every server: they repair the records
of cluster IPs and node ports. `leader.py` elects the one of several servers that runs them, by a lease.

`runtime/` has client-go's parts on top of those of `watch/`. An `Informer` is a `Followed` that controllers share: one
cursor a resource, handles of its objects, indices of them. Its `WorkQueue` has priorities, back-off and times of the
server's clock.
"""
