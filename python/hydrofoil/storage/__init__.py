"""Storage of objects: logs, and the view of them.

Its files: `log.py` (the contract of a source of truth), `collection.py` (the view of one resource, one class for all),
`storage.py` (the collections over one log), `local.py` (memory), `durable.py` (a disk), `etcd.py` (etcd, shared with
other servers), `places.py` (keys in errors), `sizes.py` (the bound of a write, which a cluster has from etcd),
`unreadable.py` (the errors of values that cannot be read; `endpoints/handlers/delete.py` deletes them). `encryption/`
reads the file of encryption (`encryption/document.py`, `encryption/configuration.py`), again when it changes
(`encryption/service.py`); it is imported only with the flag.
"""
