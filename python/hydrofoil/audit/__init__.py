"""Audit: a record of each request, chosen by a policy, for a log and a webhook.

`policy_file.py` reads the policy, `policy.py` chooses by it, `event.py` is the record of one request (its JSON is
made in `rust/audit/src/event.rs`, `legacy.py` has it as text), `service.py` hands it over. `log.py` writes on a
thread of its own, many records at once, to `rotation.py`; `webhook.py` sends the batches of `batches.py`. All queues
are bounded in number and bytes: what does not fit is lost and counted (`metrics.py`), and keeps no request, unless a
mode asks for that. Modules other than options, event and metrics are imported only where auditing is configured.
"""
