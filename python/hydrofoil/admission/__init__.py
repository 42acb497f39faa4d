"""Admission of writes, between the request and the registry: mutating and validating plug-ins."""
