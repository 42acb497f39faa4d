"""Dumps of clusters: their files, what is read from files and archives of others, and the order of an import.

`manifest.py` is the file that describes a dump of our own, `archive.py` opens archives that others made, `source.py`
finds the files of a dump, `documents.py` the objects of a file, with their lines; `names.py` selects resources, and
`order.py` puts owners before their dependants. Nothing here knows a server.
"""
