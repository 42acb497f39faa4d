"""The registry: the pipeline of objects between the request and the store."""
