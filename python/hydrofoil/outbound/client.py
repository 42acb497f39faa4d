"""aiohttp's client, loaded at the first call of a webhook or of a service behind an API service.

`import aiohttp.web` loads the client as well. That is a third of a cold start (it also reads the machine's trusted
certificates), and most servers never use it.
"""

from __future__ import annotations

import asyncio
import importlib.machinery
import importlib.util
import re
import sys
import threading
from pathlib import Path
from types import ModuleType
from typing import Any

NAME = "aiohttp"
GUARD = threading.RLock()
"""Held while the package is loaded in parts: a second thread that saw it half loaded would take it for another one."""
VERSION = re.compile(r"""^__version__ = ["'](.+)["']""", re.MULTILINE)
"""The version, as the package's own code has it."""


class Deferred(ModuleType):
    """A module whose own code has not run: it does when a name is asked for that cannot be had without it."""

    def __init__(self, spec: importlib.machinery.ModuleSpec) -> None:
        super().__init__(spec.name)
        self.__spec__ = spec
        self.__file__ = spec.origin
        self._begun = False

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        self.complete()
        try:
            return self.__dict__[name]
        except KeyError:
            raise AttributeError(name) from None

    def complete(self) -> None:
        """Run the module's own code, once; other threads wait for its end."""
        with GUARD:
            if not self._begun and self.__spec__ is not None and self.__spec__.loader is not None:
                self._begun = True
                self.__spec__.loader.exec_module(self)
                self.__class__ = ModuleType  # type: ignore[assignment]


class DeferredPackage(Deferred):
    """The package without its own exports: its modules can be imported."""

    def __init__(self, spec: importlib.machinery.ModuleSpec) -> None:
        super().__init__(spec)
        self.__path__ = spec.submodule_search_locations or []
        # The package's metadata would take longer than all other steps of this import.
        found = VERSION.search(Path(spec.origin).read_text("utf-8")) if spec.origin else None
        self.__version__ = found[1] if found else ""
        self._modules = {item.name.partition(".")[0] for path in self.__path__ for item in Path(path).iterdir()}

    def __getattr__(self, name: str) -> Any:
        # The import system requests a module as an attribute before it loads it.
        if name in self._modules:
            raise AttributeError(name)
        return super().__getattr__(name)


WEB = {
    "BaseRequest": "web_request",
    "RequestHandler": "web_protocol",
    "Response": "web_response",
    "Server": "web_server",
    "StreamResponse": "web_response",
}
"""The modules of the names of `aiohttp.web` that a server begins with; the others have applications, routes, files."""


class DeferredWeb(Deferred):
    """`aiohttp.web` by the names that are asked for."""

    def __getattr__(self, name: str) -> Any:
        if name not in WEB:
            return super().__getattr__(name)
        found = getattr(importlib.import_module(f"{NAME}.{WEB[name]}"), name)
        setattr(self, name, found)
        return found


def defer() -> None:
    """Make `import aiohttp` leave the client out, and `aiohttp.web` most of itself; call it before the first such
    import, else it does nothing."""
    spec = importlib.util.find_spec(NAME) if NAME not in sys.modules else None
    if spec is not None:
        package = sys.modules[NAME] = DeferredPackage(spec)
        web = importlib.machinery.PathFinder.find_spec(f"{NAME}.web", list(package.__path__))
        if web is not None:
            package.__dict__["web"] = sys.modules[web.name] = DeferredWeb(web)


async def ready() -> None:
    """Load the client off the loop, before it is used."""
    package = sys.modules[NAME]
    if isinstance(package, Deferred):
        await asyncio.to_thread(package.complete)
