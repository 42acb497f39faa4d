"""The webhooks as a service: the path chooses the behaviour (`conversion.py`, `admission.py`, `script.py`).

Every path:

    GET /calls?path=P       {count, largest, paths, last: {method, path, query, contentType, body}} of the calls to P or
                            below; `largest` is the highest number of objects in one ConversionReview
    GET /reviews?path=P     {count, uids, reviews: [{path, query, contentType, body}]}: the same calls, in order;
                            `uids` counts the different request uids
    DELETE /calls?path=P    forgets them
"""

from __future__ import annotations

import base64
import json
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

from tests.conformance.replay.identity.keys import openssl
from tests.conformance.replay.paths import Object
from tests.conformance.replay.service import Handler, Service
from tests.conformance.replay.webhooks import admission, conversion, script


class Webhooks(Service):
    """The service; `ca` is the bundle of its own certificate, `other_ca` one that does not fit (base64)."""

    def __init__(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            own, other = (certificate(Path(folder), name) for name in ("hooks", "other"))
            super().__init__(0, _Handler, own)
            self.ca, self.other_ca = (base64.b64encode(files[0].read_bytes()).decode() for files in (own, other))
        self.scripts: dict[str, Object] = {}


class _Handler(Handler):
    server: Webhooks

    def _asked(self) -> list[Object]:
        return self.server.below(self.query("path") or "/")

    def do_GET(self) -> None:
        with self.server.lock:
            calls = self._asked()
            if urlsplit(self.path).path == "/reviews":
                self.send(script.reviews(calls))
                return
            sizes = [len((call["body"].get("request") or {}).get("objects") or []) for call in calls]
            last = {k: v for k, v in (calls[-1] if calls else {}).items() if k != "at"}
        paths = [call["path"] for call in calls]
        self.send({"count": len(calls), "largest": max(sizes, default=0), "paths": paths, "last": last})

    def do_DELETE(self) -> None:
        with self.server.lock:
            self.forget(self._asked())

    def do_PUT(self) -> None:
        self.server.scripts[urlsplit(self.path).path] = json.loads(self.body())
        self.send({})

    def do_POST(self) -> None:
        url = urlsplit(self.path)
        review = json.loads(self.body())
        call: Object = {"method": self.command, "path": url.path, "query": url.query}
        call |= {"contentType": self.headers.get("Content-Type"), "body": review}
        with self.server.lock:
            # Calls that are alike differ by their place.
            self.server.calls.append({"at": len(self.server.calls), **call})
        parts = url.path.strip("/").split("/")
        mode, tag = parts[0], parts[-1]
        if mode == "scripted":
            self._send_script(self.server.scripts.get(url.path, {}), review)
        elif mode in ("convert-500", "review-500"):
            self.send({"kind": "Status", "status": "Failure", "message": "the hook is broken"}, 500)
        elif mode in ("convert-garbage", "review-garbage"):
            self.send(b"not JSON")
        elif mode.startswith("convert"):
            self.send(conversion.answer(mode[8:], review))
        else:
            self.send(admission.answer(mode, tag, review))

    def _send_script(self, chosen: Object, review: Object) -> None:
        time.sleep(chosen.get("delay", 0))
        if chosen.get("drop"):
            self.close_connection = True
            return
        status, headers, raw = script.answer(chosen, review)
        self.send(raw, status, headers)


def certificate(folder: Path, name: str) -> tuple[Path, Path]:
    """Make a self-signed certificate for 127.0.0.1 and its key."""
    cert, key = folder / f"{name}.crt", folder / f"{name}.key"
    openssl(
        *("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30"),
        *("-subj", f"/CN={name}.example.com", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"),
        *("-keyout", str(key), "-out", str(cert)),
    )
    return cert, key
