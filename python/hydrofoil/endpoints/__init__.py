"""Endpoints: requests in, answers out.

`wire.py` alone writes answers, large ones in turns, and lets requests begin; `line.py` is one of them;
`connection.py` bounds heads, `origin.py` refuses web pages, `tls.py` is the transport over TLS; `context.py` is one
request; `route.py` picks the handler; `negotiate.py`, `params.py` and `respond.py` read headers and options and build
answers. `filters/` has one step of the chain per file, `handlers/` one verb per file, `subresources/` one subresource
per file.
"""
