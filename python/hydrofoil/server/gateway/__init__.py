"""The gateway: this server in front of another API server.

Its files: `options.py` (the flags), `client.py` (connections to the upstream, with this server's credentials and
without any), `callers.py` (who asks), `rights.py` (what the upstream's reviews say of them), `identity.py` (as whom a
request is answered and passed on), `discovery.py` and `resources.py` (what the upstream serves), `mirrors.py` (the
resources that are read from the view), `passing.py` (everything that is passed on), `reads.py` (what is answered here,
and when not), `comparisons.py` (views without an event), `written.py` (who reads behind an own write), `kept.py` (the
view on a disk), `metrics.py`, and `app.py` (the list of its parts). The feeds are in `storage/upstream/`. Only
`options.py` is imported without `--upstream`.

- **What is not certain is passed on.** A request is answered here only if the caller may read it, the view has the
  resource and is as new as the request needs; everything else, errors included, is the upstream's own answer.
- **No credential of this server is on a connection of a caller's.** There are two sets of connections: one that
  presents its certificate, for its own requests and those of users that it acts for, and one that presents none.
"""
