"""API services: their registrations, and those that this server handles itself."""
