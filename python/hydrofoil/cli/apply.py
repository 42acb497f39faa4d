"""`hydrofoil apply`: apply files and folders of objects to a server, definitions first."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydrofoil.cli.access import AccessOptions, find_access
from hydrofoil.cli.command import Command
from hydrofoil.cli.failure import USAGE, WRONG, Failure, report
from hydrofoil.options import Options, Texts, anything, boolean, flag, once

if TYPE_CHECKING:
    from hydrofoil.controls.documents import Document
    from hydrofoil.outbound.kubeconfig import Access


class ApplyOptions(Options):
    """Apply."""

    files: Texts = flag(
        "-f",
        Texts(),
        once,
        "file or folder of YAML and JSON, - for the standard input",
        value="FILE",
        also=("--filename",),
    )
    namespace: str = flag(
        "-n", "", anything, "namespace of objects that name none (default default)", value="NAME", also=("--namespace",)
    )
    status: bool = flag("--status", False, boolean, "write the status of the objects, too", value="BOOL")


def run(given: dict[str, Any], words: tuple[str, ...]) -> int:
    """Apply objects; return the exit code. Raise Failure."""
    options = ApplyOptions.pick(given)
    paths = [*options.files, *words]
    if not paths:
        raise Failure("no file is named", "hydrofoil apply -f FILE", USAGE)
    documents = read(paths)
    if not documents:
        raise Failure(f"no objects in {', '.join(paths)}", "files end in .yaml, .yml or .json", WRONG)
    return asyncio.run(apply(find_access(AccessOptions.pick(given)), documents, options))


def read(paths: Sequence[str]) -> list[Document]:
    """Return the objects of files and folders. Raise Failure."""
    from hydrofoil.controls.documents import gather_documents, parse_documents
    from hydrofoil.errors import ApiError

    found: list[Document] = []
    try:
        for path in paths:
            if path == "-":
                found += parse_documents(sys.stdin.buffer.read(), "standard input")
            else:
                found += gather_documents([Path(path)])
    except ApiError as e:
        raise Failure(e.message, "mend the file", WRONG) from None
    except OSError as e:
        why = os.strerror(e.errno) if e.errno else str(e)
        raise Failure(f"{e.filename or path}: {why}", "-f takes a file or a folder", WRONG) from None
    return found


async def apply(access: Access, documents: Sequence[Document], options: ApplyOptions) -> int:
    """Apply objects, and return the exit code; one that is refused is a line of the standard error."""
    from hydrofoil.cli.client import Client
    from hydrofoil.controls.apply import ObjectSet
    from hydrofoil.errors import ApiError

    client = Client(access)
    code = 0
    try:
        found = ObjectSet(client.ask, client.find, documents)
        for document in found.documents:
            try:
                applied = await found.apply(document, options.namespace or None, status=options.status)
            except ApiError as e:
                code = report(Failure(e.message, code=WRONG))
                continue
            kind = str(document.content["kind"]).lower()
            full = f"{kind}.{applied.resource.group}" if applied.resource.group else kind
            # As kubectl says it.
            sys.stdout.write(f"{full}/{applied.content['metadata']['name']} serverside-applied\n")
    finally:
        client.close()
    return code


COMMAND = Command(
    "apply",
    (ApplyOptions, AccessOptions),
    run,
    "Apply files and folders of objects to the server that runs, definitions first.",
    arguments="[FILE] ...",
    most=None,
    examples=(
        "hydrofoil apply -f crds/ -f objects.yaml",
        "hydrofoil apply -n team --status -f pods.yaml",
        "hydrofoil apply --server http://127.0.0.1:18080 -f objects.yaml",
    ),
)
