"""API services: their registrations, and those that this server handles itself.

Its files: `registrations.py` (the table), `apiservices.py` (those that the server keeps itself), `availability.py`,
`documents.py` with `fetch.py` (discovery and OpenAPI of services), `passing_on.py` (requests for services),
`content.py` and `remote.py` (the resources of services, and requests of controllers for their objects).

Discovery lists groups by the table of API services (`aggregation/registrations.py`), and a request whose group version
a service serves is passed on before anything else is read of it (`aggregation/passing_on.py`, `outbound/proxy.py`;
while no service is named that costs one look at an empty dict). `aggregation/apiservices.py` follows definitions as
well and works, as upstream's autoregister and local availability controllers do, on a queue of names, which writes of
API services and of definitions wait for. `Route` brings these states up to the view before requests that depend on
them. A service is reached at the address of `--service-endpoints`, else at a ready endpoint of its slices; ExternalName
is dialled by name (`outbound/services.py`, for webhooks of definitions too).
"""
