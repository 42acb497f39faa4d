"""The built-in types and resources, and the documents that describe them.

Its files: the catalog of resources (`catalog.py`), feature gates, `--runtime-config`, API services as types, and the
package data.

Flags are parsed and refused as pflag and kube-apiserver do, one line and code 1 (`options.py`, `cli/command.py`,
`cli/sources.py`). `apis/data/gates.json` has the feature gates of the release: stage, default, lock and dependencies
(`tools/catalog/gates.py`). A gate acts where the feature is: in requests `endpoints/handlers/feature_gates.py`, for
resources the catalog; all others are known, checked and shown (`kubernetes_feature_enabled`).
"""
