"""The peer of a server: OpenID issuers, the webhook for tokens and the webhook for access, on 127.0.0.1.

    /NAME/.well-known/openid-configuration, /NAME/keys      issuers plain, cel, elsewhere
    POST /authenticate/...      TokenReview
    POST /authorize/...         SubjectAccessReview
    GET /calls?path=P           {count, paths, last: {path, body}} of the POSTs to P or below (&user=U: of user U)
    DELETE /calls?path=P        forgets them

A scenario has its URL as ${helper}, the folder as ${dir} and four of the CAs as ${client_ca}, ${front_ca}, ${helper_ca}
and ${other_ca}; goldens show <helper> and so on.
"""

from __future__ import annotations

import base64
import json
import ssl
from pathlib import Path
from urllib.parse import urlsplit

from tests.conformance.replay.identity import files, keys
from tests.conformance.replay.identity.people import CSRS
from tests.conformance.replay.identity.reviews import authenticate, authorize
from tests.conformance.replay.paths import Object
from tests.conformance.replay.service import Handler, Service

ISSUERS = {"plain": None, "cel": None, "elsewhere": "https://issuer.example.com"}
"""Issuers, and their names where these are not their URLs."""
END = "-----END CERTIFICATE-----"


class Helper(Service):
    """The service of one folder; `values` are for the steps, `names` for the placeholders of a session."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder = folder.resolve()
        port = int((folder / "port").read_text())
        super().__init__(port, _Handler, (folder / "helper.crt", folder / "helper.key"))
        ids = {name: keys.key_id(folder, name) for name in ("jwt", "sa", "ec")}
        sa, number = (keys.encode(keys.modulus(folder, name)) for name in ("sa", "jwt"))
        point = keys.public(folder, "ec")[-64:]
        x, y = keys.encode(point[:32]), keys.encode(point[32:])
        rsa = {"kty": "RSA", "use": "sig", "alg": "RS256", "kid": ids["jwt"], "n": number, "e": "AQAB"}
        ec = {"kty": "EC", "use": "sig", "alg": "ES256", "kid": ids["ec"], "crv": "P-256", "x": x, "y": y}
        self.keys = {"keys": [rsa, ec]}
        requests = {f"csr_{name}": f"{name}.csr" for name in CSRS} | {"crt_alice": "alice.crt"}
        encoded = {name: base64.b64encode((folder / file).read_bytes()).decode() for name, file in requests.items()}
        authorities = ("client", "front", "helper", "other")
        bundles = {f"{name}_ca": (folder / f"{name}-ca.crt").read_text() for name in authorities}
        self.values: Object = {"helper": self.url, "dir": str(folder), **bundles, **encoded}
        self.names = {kid: f"<{name}_kid>" for name, kid in ids.items()} | {self.address: "<helper>"}
        self.names |= {str(folder): "<dir>", sa: "<sa_modulus>", number: "<jwt_modulus>", x: "<ec_x>", y: "<ec_y>"}
        self.names |= {text: f"<{name}>" for name, text in (encoded | bundles).items()}

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        files.restore(self.folder)

    def certificate(self, name: str) -> tuple[str, str]:
        """Return the files of a client certificate: certificate, key."""
        return str(self.folder / f"{name}.crt"), str(self.folder / f"{name}.key")

    def presented(self, der: bytes | None) -> str:
        """Return the name of the serving certificate that a server presented; `another` for any other."""
        for kept in (self.folder / f"{name}.crt.kept" for name in ("serving", "second")):
            path = kept if kept.exists() else kept.with_suffix("")
            text = path.read_text().partition(END)[0] + END
            if der and ssl.PEM_cert_to_DER_cert(text) == der:
                return path.name.partition(".")[0]
        return "another"


class _Handler(Handler):
    server: Helper

    def _asked(self) -> list[Object]:
        calls, user = self.server.below(self.query("path") or "/"), self.query("user")
        return [c for c in calls if user in (None, c["body"].get("spec", {}).get("user"))]

    def do_GET(self) -> None:
        issuer, _, rest = self.path.strip("/").partition("/")
        if issuer in ISSUERS and rest == "keys":
            self.send(self.server.keys)
        elif issuer in ISSUERS and rest == ".well-known/openid-configuration":
            own = f"{self.server.url}/{issuer}"
            algorithms = {"id_token_signing_alg_values_supported": ["RS256", "ES256"]}
            self.send({"issuer": ISSUERS[issuer] or own, "jwks_uri": f"{own}/keys", **algorithms})
        elif issuer.startswith("calls"):
            with self.server.lock:
                calls = self._asked()
            paths, last = [c["path"] for c in calls], calls[-1] if calls else {}
            self.send({"count": len(calls), "paths": paths, "last": last})
        else:
            self.send({}, 404)

    def do_DELETE(self) -> None:
        with self.server.lock:
            self.forget(self._asked())

    def do_POST(self) -> None:
        path = urlsplit(self.path).path
        review = json.loads(self.body())
        with self.server.lock:
            self.server.calls.append({"path": path, "body": review})
        status, answer = authenticate(review) if path.startswith("/authenticate") else authorize(review)
        self.send(answer, status)
