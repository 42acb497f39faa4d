"""Budgets, quotas and autoscalers (`pkg/controller/disruption`, `resourcequota`, `podautoscaler`)."""
