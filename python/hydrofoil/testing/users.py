"""The users of a test, with their credentials."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import threading
from pathlib import Path
from typing import Any

from hydrofoil.server.kubeconfig_file import Credentials, of_token


class Folder:
    """A folder for the kubeconfigs of one server, made for the first and gone at the end."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        """Held while a file is written: a reader of a half-written kubeconfig would have no user."""
        self._path: Path | None = None
        self._written: set[str] = set()

    def write(self, name: str, content: dict[str, Any]) -> Path:
        """Write a private file, unless it is there: clients may have changed it. Return its path."""
        with self._lock:
            if self._path is None:
                self._path = Path(tempfile.mkdtemp(prefix="hydrofoil-"))
            path = self._path / f"{name}.kubeconfig"
            if name not in self._written or not path.exists():
                self._written.add(name)
                with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
                    json.dump(content, file)
        return path

    def renew(self) -> None:
        """Write all files anew when they are asked for next."""
        self._written.clear()

    def remove(self) -> None:
        """Remove the folder; again is no error."""
        with self._lock:
            path, self._path = self._path, None
        if path is not None:
            shutil.rmtree(path, ignore_errors=True)


class Account:
    """A user of a server, by a token."""

    def __init__(self, name: str, groups: tuple[str, ...], credentials: Credentials, folder: Folder, file: str) -> None:
        self.name = name
        self.groups = groups
        self._credentials = credentials
        self._folder = folder
        self._file = file

    @property
    def headers(self) -> dict[str, str]:
        """Return the HTTP headers of its requests."""
        return {"Authorization": f"Bearer {self._credentials.token}"}

    @property
    def kubeconfig(self) -> dict[str, Any]:
        """Return its kubeconfig."""
        token, url, ca = self._credentials
        return of_token(url, ca, self.name, token)

    @property
    def kubeconfig_file(self) -> Path:
        """Return the path of its kubeconfig, which only the owner may read and which is gone after `stop`."""
        return self._folder.write(self._file, self.kubeconfig)

    def __repr__(self) -> str:
        return f"<user {self.name}>"
