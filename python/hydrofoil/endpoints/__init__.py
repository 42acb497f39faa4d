"""Endpoints: requests in, answers out.

`wire.py` alone writes answers, large ones in turns, and lets requests begin; `line.py` is one of them;
`connection.py` bounds heads, `plain_connection.py` has another aiohttp, `origin.py` refuses web pages, `tls.py` is
the transport over TLS; `known_heads.py` and `eager.py` answer what is like a request before; `context.py` is one
request; `route.py` picks the handler; `negotiate.py`, `params.py` and `respond.py` read headers and options and build
answers. `filters/` has one step of the chain per file, `handlers/` one verb per file, `subresources/` one subresource
per file.

A request has a place in its class, reading or writing, while it is answered; without a free one it gets 429. Most are
answered within one turn of the loop and never meet, so places bound requests that wait: bodies that arrive slowly,
large lists with slow readers, webhooks. Watches and documents need no place. A timer is set only for a body that has
not arrived yet, for an answer written in pieces, and once a client has not read its answer: it has `--request-timeout`
for that, then its connection is reset. Each head has 32 s and a megabyte, however it trickles in, and so has a TLS
handshake; the wait for the next head is 90 s. Until its handshake is complete a client costs a session and no more, and
handshakes have a share of a turn of the loop, so that a flood of them leaves the others their turns. Requests that two
parsers could read differently end the connection (`endpoints/framing.py`). Answers of webhooks and services are bounded
by the 3 MiB that a client may write (`outbound/bounds.py`): upstream has no bound.
"""
