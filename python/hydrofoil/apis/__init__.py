"""The built-in types and resources, and the documents that describe them.

Its files: the catalog of resources (`catalog.py`), feature gates, `--runtime-config`, API services as types, the
package data, and the data of each release (`releases/`).
"""
