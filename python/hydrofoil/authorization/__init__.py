"""The rights of users: RBAC, nodes, webhooks.

Its files: `service.py`, `options.py` (flags), `union.py` (several authorizers as one), `impersonation.py` (users
acted as). `rbac/` has the roles: `rbac/policy.py` (roles and bindings by subject), `rbac/rights.py` (the compiled
rights of a user), `rbac/rules.py` (which rules cover others), `rbac/granting.py` (the strategies of roles and
bindings), `rbac/reconcile.py` (default roles). `node/` has the rights of kubelets: `node/authorizer.py` (decisions),
`node/pods.py` (references of the pods on a node), `node/volumes.py`. `webhook.py` asks another server: `reviews.py`
(questions and answers), `conditions.py` (CEL).
`configuration.py` reads the file of authorizers, `reload.py` reads it again, `selectors.py` has selectors as
attributes, `metrics.py` the counts.

Authorizers decide on a `RequestInfo`: that of the request, or attributes that a verb checks inside (`attributes`). A
decision covers the path that is executed, because the route reads the same `RequestInfo`. An authorizer answers at
once, or returns an awaitable if it has to wait; the union stops at the first opinion, and members of `system:masters`
pass in front of it.

RBAC is four states that follow events (`authorization/rbac/policy.py`), read at each decision, so that one's own write
is in the next one. A user's rules are compiled on first use into tables by verb, group and resource, one for the
cluster and one for each namespace asked about; the decision on a kind of requests is kept until a role or binding
changes. Both are bounded for all users together. Names and paths are compared last.

A kubelet reads the objects that pods on its node refer to (`authorization/node/pods.py`). The pods are sorted by node
once, in pieces, when the server starts or the first kubelet asks; the references of a node are read when it first asks,
and both follow the events. Names of nodes are found in the bytes of a pod and confirmed by the store's own selector: a
label may look the same. Pods, attachments and slices name their node themselves, and are looked at when they are asked
about. The object of a write, which the authorizer cannot see, is checked by NodeRestriction
(`admission/plugins/node_restriction.py`); tokens and evictions pass admission for it
(`endpoints/subresources/admitted.py`).

A webhook is asked unless a condition excludes the request or an answer to the same review is kept. The key of a kept
answer is the whole review, so that users who differ in anything never share one. An answer is bounded in bytes and
time, redirects are errors, and everything but a review of the expected version is one too. A changed file of
authorizers is read, checked and compiled off the loop; then the union gets another tuple of authorizers between two
turns. Those that live as long as the server (RBAC, Node) stay the same; retired webhooks end after their calls in
flight.

Some rights are checked inside a verb: `Strategy.authorize` after the mutating plug-ins (what a role or binding grants),
`Strategy.further_causes` on a valid object (parameters of policies, status of device claims), `registry/rights.py` for
a PUT or apply that makes its object, `endpoints/subresources/kubelet.py` for a WebSocket to a pod. They ask
`Write.authorizer`; a write of the server itself has no `Admit` and passes.

A server without credentials on loopback is open: its callers may do everything (`AlwaysAllow`), while users acted as
(`Impersonate-User`) and users in reviews have what roles allow them (`Context.authorizer`).
"""
