"""The life of nodes, and of pods whose node is lost (`pkg/controller/nodelifecycle`, `tainteviction`, `podgc`)."""
