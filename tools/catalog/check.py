"""Compare the data files and the facts with the answers of a running reference server."""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

from .differences import differences
from .discovery import aggregated, discovery
from .facts import read_facts
from .generate import DATA
from .model import VERSION, Facts, Json, read_json
from .modules import Modules
from .openapi import file_name

# Facts that the published sources have and the compared facts lack: where they begin, or where they end.
GAINED = {
    "printer_columns": (
        "/resource.k8s.io ResourcePoolStatusRequest",
        "/storage.k8s.io CSIStorageCapacity",
    ),
    "field_selectors": (
        "/apps v1beta1 StatefulSet",
        "/apps v1beta2 StatefulSet",
        "/certificates.k8s.io v1beta1 PodCertificateRequest",
        "/events.k8s.io v1beta1 Event",
        "/resource.k8s.io v1beta1 ResourceSlice",
    ),
}


class Check:
    """Counts and prints differences, one line a checked thing."""

    def __init__(self, shared: Path, data: Path) -> None:
        self.shared = shared / "catalog" / VERSION
        self.live = self.shared / "live"
        self.data = data
        self.catalog: Json = read_json(data / "catalog.json")
        self.failed = False

    def report(self, name: str, found: Iterator[str], gained: tuple[str, ...] = ()) -> None:
        lines = list(found)
        more = [line for line in lines if "only made" in line]
        known = {line for line in more if line.startswith(gained or "\0") or "/description: " in line}
        bad = [line for line in lines if line not in known]
        self.failed |= bool(bad)
        note = f" ({len(lines) - len(bad)} gained)" if len(lines) > len(bad) else ""
        print(f"{name}: {len(bad) or 'no'} differences{note}")
        for line in bad[:20]:
            print(f"  {line}")

    def against(self, name: str, made: Any, wanted: Path) -> None:
        self.report(name, differences(made, read_json(wanted)))

    def answers(self) -> None:
        self.against("discovery", discovery(self.catalog), self.live / "discovery.json")
        self.against("aggregated discovery", aggregated(self.catalog), self.live / "aggregated.json")
        self.against("field selectors", self.selectors(), self.live / "field_selectors.json")
        self.report("health checks", self.health())
        made = read_json(self.data / "bootstrap.json")
        self.against("bootstrap objects", made, self.live / "objects.json")
        self.report("OpenAPI documents", self.openapi())

    def selectors(self) -> dict[str, list[str]]:
        """Return resource -> selectors that it accepts, for listable resources."""
        found = {}
        for item in self.catalog["resources"]:
            if not item.get("served") or "list" not in item["verbs"]:
                continue
            namespace = [] if item.get("noNamespaceSelector") else ["metadata.namespace"]
            names = ["metadata.name", *namespace, *item.get("fieldSelectors", ())]
            prefix = f"{item['group']}/" if item["group"] else ""
            found[f"{prefix}{item['version']}/{item['plural']}"] = sorted(names)
        return found

    def health(self) -> Iterator[str]:
        for path, wanted in read_json(self.live / "health.json").items():
            made = self.catalog["checks"].get(path.strip("/"))
            yield from differences(made, wanted["checks"], path)

    def openapi(self) -> Iterator[str]:
        directory = self.live / "openapi"
        index: dict[str, str] = read_json(self.data / "openapi" / "index.json")
        yield from differences(sorted(index), sorted([*read_json(directory / "index.json"), "v2"]))
        for path, name in index.items():
            made = json.loads(gzip.decompress((self.data / "openapi" / name).read_bytes()))
            wanted = "v2" if path == "v2" else f"v3/{file_name(path)}"
            yield from differences(made, read_json(directory / f"{wanted}.json"), path)

    def facts(self, made: Facts) -> None:
        wanted = Facts.load(self.shared)
        for field in fields(Facts):
            name = field.name
            pair = (keyed(getattr(made, name)), keyed(getattr(wanted, name)))
            self.report(f"facts {name}", differences(*pair), GAINED.get(name, ()))


def keyed(value: Any) -> Any:
    """Entries of a kind by its name: their order and their notes mean nothing."""
    if not isinstance(value, list) or not all("kind" in item for item in value):
        return value
    names = ("group", "version", "kind", "plural")
    return {
        " ".join(item[key] for key in names if key in item): {key: item[key] for key in item if key != "note"}
        for item in value
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, required=True, help="directory that holds catalog/")
    parser.add_argument("--data", type=Path, default=DATA, help="directory of the data files")
    parser.add_argument("--cache", type=Path, help="module cache; without it facts are not compared")
    args = parser.parse_args()
    check = Check(args.shared, args.data)
    check.answers()
    if args.cache:
        check.facts(read_facts(Modules.fetch(args.cache)))
    return int(check.failed)


if __name__ == "__main__":
    sys.exit(main())
