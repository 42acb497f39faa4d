"""API services: what is registered, and which of them the server has itself."""
