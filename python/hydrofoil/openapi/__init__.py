"""OpenAPI documents of built-in kinds, of definitions and of services, merged."""
