"""Budgets, quotas and autoscalers (`pkg/controller/disruption`, `resourcequota`, `podautoscaler`).

`disruption.py` counts the pods of budgets (`pod_census.py`), and the scales of their owners (`expected_pods.py`,
`scales.py`).
`resource_quota.py` counts what quotas measure, after changes that release something (`quota_events.py`).
`horizontal_pod_autoscaler.py` (with `autoscaler_look.py`) keeps targets within bounds, and says why there are no
metrics (`absent_metrics.py`, `selector_text.py`).
"""
