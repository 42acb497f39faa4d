"""Credentials of requests, and the tokens of service accounts.

`service.py` is the union: certificates of front proxies (`front_proxy.py`) and clients (`client_certificates.py`),
then the token of the header or of a WebSocket's subprotocol (`bearer.py`), then anonymous requests. `union.py` asks
the authenticators of tokens in their order: `static_tokens.py`, `accounts/` (service accounts: `accounts/keys.py`
signs and verifies, `accounts/tokens.py` checks claims against live objects, `accounts/legacy.py` those in secrets,
`accounts/issue.py` makes them, `accounts/openid.py` publishes the keys), `bootstrap_tokens.py`, `jwt/`, `webhook.py`.
A login is kept for 10 s under the digest of its token (`cache.py`), so that most requests cost one look at a dict.
`jose.py` has what a verifier must refuse in the header of a token. `published.py` writes the authorities for
aggregated servers. `login.py` has the interfaces, `options.py` the flags, `checks.py` their refusals at the start.
The libraries of keys are imported on first use, beside the loop.
"""
