"""`hydrofoil import`: bring the objects of a dump, or of a cluster, to a server."""

from __future__ import annotations

import asyncio
import gc
import sys
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hydrofoil.cli.access import AccessOptions, find_access
from hydrofoil.cli.client import Client
from hydrofoil.cli.command import Command
from hydrofoil.cli.dumps.live import export_live, is_kubeconfig
from hydrofoil.cli.dumps.progress import Bar, progress
from hydrofoil.cli.dumps.served import ServedResources, refuse_unknown
from hydrofoil.cli.dumps.summary import Summary
from hydrofoil.cli.dumps.taking import Import
from hydrofoil.cli.failure import USAGE, WRONG, Failure
from hydrofoil.clock import stopwatch
from hydrofoil.dumps.manifest import DumpError
from hydrofoil.dumps.names import Selection, name_resources
from hydrofoil.dumps.object import Broken, DumpedObject
from hydrofoil.dumps.order import DEFINITION, DumpIndex, order_objects
from hydrofoil.dumps.source import Source, open_source
from hydrofoil.options import Options, Texts, boolean, flag, one_of, words


class ImportOptions(Options):
    """Import."""

    keep_uids: bool = flag(
        "--keep-uids", False, boolean, "keep uids, times and owners of fields; to Hydrofoil alone", value="BOOL"
    )
    include: Texts = flag(
        "--include", Texts(), words, "only these resources, such as pods,deployments.apps", value="RES.GROUP,..."
    )
    exclude: Texts = flag("--exclude", Texts(), words, "all but these resources", value="RES.GROUP,...")
    on_conflict: str = flag(
        "--on-conflict",
        "skip",
        one_of("skip", "replace", "fail"),
        "what to do with an object whose name is taken by another one (default {})",
        value="skip|replace|fail",
    )
    resume: bool = flag(
        "--resume",
        False,
        boolean,
        "go on with an import that was cut off: complete what it has begun",
        value="BOOL",
    )
    as_json: bool = flag("--json", False, boolean, "print the summary as JSON on a terminal, too", value="BOOL")


def run(given: dict[str, Any], arguments: tuple[str, ...]) -> int:
    """Import a dump; return the exit code. Raise Failure."""
    if not arguments:
        raise Failure("SOURCE is missing", "hydrofoil import SOURCE", USAGE)
    options = ImportOptions.pick(given)
    begun = stopwatch()
    # A dump has no circles of objects: looking for some took half of the time of reading it.
    gc.disable()
    client = Client(find_access(AccessOptions.pick(given)))
    summary = Summary()
    try:
        with progress() as bar, open_any(arguments[0], Selection(options.include, options.exclude), bar) as source:
            asyncio.run(load(client, source, options, summary, bar))
    except DumpError as e:
        raise Failure(str(e), code=WRONG) from None
    finally:
        client.close()
    seconds = stopwatch() - begun
    if sys.stdout.isatty() and not options.as_json:
        sys.stdout.write(summary.text(seconds))
    else:
        sys.stdout.write(summary.json(seconds).decode())
    return summary.code


@contextmanager
def open_any(place: str, selection: Selection, bar: Bar) -> Iterator[Source]:
    """Open a dump, the standard input, or a cluster by its kubeconfig. Raise DumpError, Failure."""
    with tempfile.TemporaryDirectory(prefix="hydrofoil-import-") as folder:
        if place == "-":
            data = sys.stdin.buffer.read()
            path = Path(folder) / ("stdin.json" if data.lstrip().startswith(b"{") else "stdin.yaml")
            path.write_bytes(data)
            place = str(path)
        elif is_kubeconfig(place):
            to = str(Path(folder) / "dump")
            export_live(AccessOptions(kubeconfig=place), to, selection, bar)
            place = to
        with open_source(place) as source:
            yield source


async def load(client: Client, source: Source, options: ImportOptions, summary: Summary, bar: Bar) -> None:
    """Read a dump, and import what is selected of it. Raise Failure."""
    bar.describe("reading", None)
    index = DumpIndex()
    for piece in source.pieces():
        if isinstance(piece, Broken):
            summary.fail(piece)
        else:
            index.add(piece)
            bar.advance()
    work = Import(
        client, index, summary, bar, options.on_conflict, keeps_uids=options.keep_uids, resumes=options.resume
    )
    await work.check()
    selection = Selection(options.include, options.exclude)
    chosen, excluded = select(index, selection, work.served, source)
    every = selection.include or selection.exclude
    # One that is there twice is taken once.
    summary.unchanged += 0 if every else index.repeated
    summary.read = len(chosen) + (0 if every else index.repeated)
    bar.describe("importing", len(chosen))
    await work.take(order_objects(index, chosen), makes_namespaces="namespaces" not in excluded)


def select(
    index: DumpIndex, selection: Selection, served: ServedResources, source: Source
) -> tuple[list[DumpedObject], Collection[str]]:
    """Return the objects of selected resources, and the names of excluded ones.

    Raise Failure for a name that no resource has.
    """
    if not (selection.include or selection.exclude):
        return list(index.objects()), ()
    plurals = {(r.group, r.kind): r.plural for r in served.by_kind.values()}
    names = [(r.group, r.plural, r.aliases) for r in served.preferred]
    for resource in source.manifest.resources if source.manifest else ():
        plurals.setdefault((resource.group, resource.kind), resource.resource)
        names.append((resource.group, resource.resource, (resource.kind,)))
    for found in index.objects():
        if (found.group, found.kind) == DEFINITION:
            spec = found.content().get("spec") or {}
            kinds = spec.get("names") or {}
            group, kind, plural = (
                str(text or "") for text in (spec.get("group"), kinds.get("kind"), kinds.get("plural"))
            )
            plurals.setdefault((group, kind), plural)
            names.append((group, plural, (kind,)))
    try:
        chosen = selection.resolve(name_resources(names))
    except ValueError as e:
        raise refuse_unknown(e) from None
    return [found for found in index.objects() if takes(chosen, found, plurals)], chosen.exclude


def takes(selection: Selection, found: DumpedObject, plurals: dict[tuple[str, str], str]) -> bool:
    """Report whether an object is of a selected resource; one of an unknown kind is, unless some are included."""
    plural = plurals.get((found.group, found.kind))
    return not selection.include if plural is None else selection.takes(found.group, plural)


COMMAND = Command(
    "import",
    (ImportOptions, AccessOptions),
    run,
    "Bring the objects of a dump to a server: of an export, of files in YAML and JSON as kubectl get, kubectl"
    " cluster-info dump and must-gather write them, in a folder or an archive, or of the cluster of a kubeconfig.",
    arguments="SOURCE",
    most=1,
    examples=(
        "hydrofoil import yesterday --keep-uids",
        "hydrofoil import must-gather.tar.gz --exclude events,leases.coordination.k8s.io",
        "hydrofoil import pods.yaml --on-conflict replace --server http://127.0.0.1:8080",
        "hydrofoil import ~/.kube/config --include namespaces,configmaps",
    ),
)
