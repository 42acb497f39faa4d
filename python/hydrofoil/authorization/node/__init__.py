"""The rights of kubelets: what the pods on their node refer to."""
