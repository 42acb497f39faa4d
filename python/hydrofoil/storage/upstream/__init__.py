"""A view of the objects of another API server: a source without commits.

Its files: `log.py` (the source of a storage), `feed.py` (one list and one watch of a resource), `contact.py` (whether
the other server answers, and since when it does not), `requests.py` (what is asked of it, for whoever has connections).
The bytes of bodies go to native code (`rust/upstream`). The package is imported only with `--upstream`.
"""
