"""The built-in types and resources, and the documents that describe them.

Its files: the catalog of resources (`catalog.py`), feature gates, `--runtime-config`, API services as types, the
package data, and the data of each release (`releases/`).

Flags are parsed and refused as pflag and kube-apiserver do, one line and code 1 (`options.py`, `cli/command.py`,
`cli/sources.py`). A gate acts where the feature is: in requests `endpoints/handlers/feature_gates.py`, for resources
the catalog, for fields the rules of the kind (`rust/schema`); all others are known, checked and shown.
"""
