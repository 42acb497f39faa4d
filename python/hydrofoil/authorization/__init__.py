"""The rights of users: RBAC, nodes, webhooks."""
