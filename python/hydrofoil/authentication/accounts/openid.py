"""The documents of the issuer (`pkg/serviceaccount/openidmetadata.go`, `pkg/routes/openidmetadata.go`)."""

from __future__ import annotations

from urllib.parse import urlsplit

import orjson

from hydrofoil.authentication.accounts.keys import Keys

CONFIGURATION, KEYS = "/.well-known/openid-configuration", "/openid/v1/jwks"
HEAD = b"Cache-Control: public, max-age=3600\r\n"


class Documents:
    """The documents of a server; absent where its issuer is no URL that OpenID allows."""

    def __init__(self, keys: Keys, issuer: str, uri: str, address: str, *, own: bool) -> None:
        """Take `uri` as the published place of the keys, by default this server, at `address` (`host:port`).

        `own`: the issuer is the URL of this server, which has no TLS on a loopback address.
        """
        self._keys = keys
        self._issuer = issuer
        scheme = "http" if own and issuer.startswith("http:") else "https"
        self._schemes = {scheme, "https"}
        self._uri = uri or f"{scheme}://{address}{KEYS}"

    async def document(self, path: str) -> tuple[str, bytes] | None:
        """Return media type and body of a document; None for an unknown path."""
        if path not in (CONFIGURATION, KEYS) or not self.served():
            return None
        await self._keys.ready()
        keys = self._keys.all
        if path == CONFIGURATION:
            return "application/json", orjson.dumps(
                {
                    "issuer": self._issuer,
                    "jwks_uri": self._uri,
                    "response_types_supported": ["id_token"],
                    "subject_types_supported": ["public"],
                    "id_token_signing_alg_values_supported": sorted({key.algorithm for key in keys}),
                }
            )
        return "application/jwk-set+json", orjson.dumps({"keys": [key.public for key in keys]})

    def served(self) -> bool:
        """Report whether the issuer is a URL by https, without query and fragment."""
        try:
            url = urlsplit(self._issuer)
        except ValueError:
            return False
        return url.scheme in self._schemes and not url.query and not url.fragment
