"""The objects of a rehearsal: of a dump, or of a running server, which is only read."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hydrofoil.cli.access import AccessOptions, find_access
from hydrofoil.cli.apply import read as read_files
from hydrofoil.cli.client import Client
from hydrofoil.cli.dumps.export import export
from hydrofoil.cli.dumps.progress import progress
from hydrofoil.cli.dumps.writer import DumpWriter
from hydrofoil.cli.failure import USAGE, Failure
from hydrofoil.controls.documents import Document
from hydrofoil.dumps.manifest import DumpError
from hydrofoil.dumps.names import Selection
from hydrofoil.options import Options, anything, boolean, flag
from hydrofoil.server.dumped_log import Contents, read_dump


class RehearsalOptions(Options):
    """Rehearsal."""

    from_dump: str = flag(
        "--from",
        "",
        anything,
        "the objects: of hydrofoil export, or what hydrofoil import takes (default those of the server)",
        value="DUMP",
    )
    as_json: bool = flag("--json", False, boolean, "print all of the result as JSON", value="BOOL")
    webhooks: bool = flag(
        "--webhooks", False, boolean, "call webhooks, with dry runs; without it, none is called", value="BOOL"
    )


def read_contents(given: Mapping[str, Any]) -> Contents:
    """Return the objects of the dump, or of the server, that the flags name. Raise Failure."""
    options = RehearsalOptions.pick(given)
    access = AccessOptions.pick(given)
    try:
        if options.from_dump:
            if access.server or access.kubeconfig or access.context:
                raise Failure("--from and a server exclude each other", "a rehearsal has one source")
            return read_dump(options.from_dump)
        with tempfile.TemporaryDirectory(prefix="hydrofoil-rehearse-") as folder:
            place = str(Path(folder) / "dump")
            take_dump(access, place)
            return read_dump(place)
    except DumpError as e:
        raise Failure(str(e), code=USAGE) from None
    except OSError as e:
        raise Failure(f"{e.filename or 'the objects'}: {(e.strerror or str(e)).lower()}", code=USAGE) from None


def take_dump(options: AccessOptions, place: str) -> None:
    """Export the objects of a server by its lists. Raise Failure, whose code says that nothing was rehearsed."""
    client = None
    try:
        client = Client(find_access(options))
        with DumpWriter(place) as writer, progress() as bar:
            manifest, _ = asyncio.run(export(client, writer, Selection((), ()), bar))
            writer.finish(manifest)
    except Failure as e:
        raise Failure(str(e), code=USAGE) from None
    finally:
        if client is not None:
            client.close()


def read_documents(paths: Sequence[str]) -> list[Document]:
    """Return the objects of files and folders. Raise Failure."""
    try:
        found = read_files(paths)
    except Failure as e:
        raise Failure(str(e), code=USAGE) from None
    if not found:
        raise Failure(f"no objects in {', '.join(paths)}", "files end in .yaml, .yml or .json")
    return found
