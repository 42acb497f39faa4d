"""The published Go modules that the facts are read from."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from .model import RELEASE

LIBRARY_RELEASE = "0" + RELEASE[RELEASE.index(".") :]


@dataclass(frozen=True)
class Modules:
    """Source directories of the modules."""

    kubernetes: Path
    api: Path
    apimachinery: Path
    apiextensions: Path
    aggregator: Path
    apiserver: Path
    client: Path
    component: Path
    manager: Path

    @classmethod
    def fetch(cls, cache: Path) -> Modules:
        """Download the modules through the module proxy, unless the cache holds them."""

        def library(name: str) -> Path:
            return download(f"k8s.io/{name}@v{LIBRARY_RELEASE}", cache)

        return cls(
            kubernetes=download(f"k8s.io/kubernetes@v{RELEASE}", cache),
            api=library("api"),
            apimachinery=library("apimachinery"),
            apiextensions=library("apiextensions-apiserver"),
            aggregator=library("kube-aggregator"),
            apiserver=library("apiserver"),
            client=library("client-go"),
            component=library("component-base"),
            manager=library("controller-manager"),
        )

    @property
    def openapi_spec(self) -> Path:
        return self.kubernetes / "api" / "openapi-spec"

    @property
    def discovery(self) -> Path:
        return self.kubernetes / "api" / "discovery"


def download(module: str, cache: Path) -> Path:
    cache.mkdir(parents=True, exist_ok=True)
    result = subprocess.run(
        ["go", "mod", "download", "-json", module],
        # A directory without a go.mod, so that no other module affects the choice.
        cwd=cache,
        env={**os.environ, "GOMODCACHE": str(cache.resolve() / "mod"), "GOFLAGS": ""},
        check=False,
        capture_output=True,
        text=True,
    )
    answer = json.loads(result.stdout or "{}")
    if result.returncode or "Dir" not in answer:
        raise SystemExit(f"cannot fetch {module}: {answer.get('Error', result.stderr)}")
    return Path(answer["Dir"])
