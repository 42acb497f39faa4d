"""The PodSecurity admission plug-in (k8s.io/pod-security-admission)."""
