"""Workloads that run on: replica sets, deployments, stateful sets and daemon sets (`pkg/controller`).

`workload.py` is what their controllers have in common; `table.py` lists them.

- `replica_set.py` keeps numbers of pods, of replica sets and replication controllers; `pod_tally.py` counts their pods
  with each event, `pod_order.py` says which ones go first, `replica_status.py` makes the status.
- `deployment.py` decides on the next step of a rollout. `rollout.py` is one look at a deployment and its sets;
  `rolling_update.py` has the steps, `proportional.py` scaling meanwhile, `rollback.py` the deprecated rollback,
  `deployment_status.py` status and progress, `set_annotations.py` revisions and sizes in annotations.
- `stateful_set.py` keeps pods with numbers. `stateful_update.py` is one look at them, `stateful_pods.py` their
  identity, `stateful_control.py` their writes, `claim_retention.py` what becomes of their claims.
- `daemon_set.py` keeps a pod on each node. `daemon_nodes.py` is one look at all nodes, `daemon_pods.py` says where pods
  may run, `daemon_writes.py` and `daemon_history.py` write pods and revisions, `pod_backoff.py` delays what fails.
- `history.py` has the controller revisions of stateful sets and daemon sets.
"""
