"""A cluster as the source of an import: exported to a folder of its own first."""

from __future__ import annotations

import asyncio
from pathlib import Path

import orjson

from hydrofoil import engine
from hydrofoil.cli.access import AccessOptions, find_access
from hydrofoil.cli.client import Client
from hydrofoil.cli.dumps.export import export
from hydrofoil.cli.dumps.progress import Bar
from hydrofoil.cli.dumps.writer import DumpWriter
from hydrofoil.dumps.names import Selection

LARGEST = 1 << 20


def is_kubeconfig(place: str) -> bool:
    """Report whether a file is a kubeconfig."""
    path = Path(place)
    try:
        if not path.is_file() or path.stat().st_size > LARGEST:
            return False
        data = path.read_bytes()
        content = orjson.loads(engine.yaml_to_json(data)) if b"clusters" in data else None
    except (OSError, ValueError, engine.DecodeError):
        return False
    return isinstance(content, dict) and content.get("kind") == "Config" and isinstance(content.get("clusters"), list)


def export_live(options: AccessOptions, place: str, selection: Selection, bar: Bar) -> None:
    """Export the cluster that flags name to a place that does not exist. Raise Failure."""
    client = Client(find_access(options))
    try:
        with DumpWriter(place) as writer:
            manifest, _ = asyncio.run(export(client, writer, selection, bar))
            writer.finish(manifest)
    finally:
        client.close()
