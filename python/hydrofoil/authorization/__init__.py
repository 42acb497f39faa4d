"""The rights of users: RBAC, nodes, webhooks.

Its files: `service.py`, `options.py` (flags), `union.py` (several authorizers as one), `impersonation.py` (users
acted as). `rbac/` has the roles: `rbac/policy.py` (roles and bindings by subject), `rbac/rights.py` (the compiled
rights of a user), `rbac/rules.py` (which rules cover others), `rbac/granting.py` (the strategies of roles and
bindings), `rbac/reconcile.py` (default roles). `node/` has the rights of kubelets: `node/authorizer.py` (decisions),
`node/pods.py` (references of the pods on a node), `node/volumes.py`. `webhook.py` asks another server: `reviews.py`
(questions and answers), `conditions.py` (CEL), `decision_cache.py` (kept answers).
`configuration.py` reads the file of authorizers, `reload.py` reads it again, `selectors.py` has selectors as
attributes, `metrics.py` the counts.
"""
