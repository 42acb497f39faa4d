"""API services: their registrations, and those that this server handles itself.

Its files: `registrations.py` (the table), `apiservices.py` (those that the server keeps itself), `availability.py`,
`documents.py` with `fetch.py` (discovery and OpenAPI of services), `passing_on.py` (requests for services),
`content.py` and `remote.py` (the resources of services, and requests of controllers for their objects).
"""
