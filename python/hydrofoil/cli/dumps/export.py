"""`hydrofoil export`: write all objects of a cluster to a folder or an archive."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import orjson

from hydrofoil.cli.access import AccessOptions, find_access
from hydrofoil.cli.client import Client
from hydrofoil.cli.command import Command
from hydrofoil.cli.dumps.progress import Bar, progress
from hydrofoil.cli.dumps.served import Resource, discover, get, refuse_unknown
from hydrofoil.cli.dumps.writer import DumpWriter
from hydrofoil.cli.failure import USAGE, WRONG, Failure, report
from hydrofoil.clock import Clock
from hydrofoil.dumps.manifest import DumpedResource, Manifest, file_name
from hydrofoil.dumps.names import Selection
from hydrofoil.options import Options, Texts, boolean, flag, words

PAGE = 500
"""The objects of one request."""
TRIES = 5
"""How often a list begins anew whose version has expired meanwhile."""
BY_NAME = frozenset(("events", "events.events.k8s.io", "leases.coordination.k8s.io"))
"""Resources that are in a dump only if they are included by name: they change all the time, and are soon worthless."""
FIRST = ("customresourcedefinitions.apiextensions.k8s.io", "namespaces")


class ExportOptions(Options):
    """Export."""

    include: Texts = flag(
        "--include", Texts(), words, "only these resources, such as pods,deployments.apps", value="RES.GROUP,..."
    )
    exclude: Texts = flag("--exclude", Texts(), words, "all but these resources", value="RES.GROUP,...")
    without_secrets: bool = flag("--without-secrets", False, boolean, "leave out secrets", value="BOOL")


class Expired(Exception):
    """A list cannot go on: its version is too old."""


def run(given: dict[str, Any], arguments: tuple[str, ...]) -> int:
    """Export a cluster; return the exit code. Raise Failure."""
    if not arguments:
        raise Failure("DEST is missing", "hydrofoil export DEST", USAGE)
    options = ExportOptions.pick(given)
    access = find_access(AccessOptions.pick(given))
    # The end by a signal removes what is unfinished, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    client = Client(access)
    try:
        with DumpWriter(arguments[0]) as writer, progress() as bar:
            selection = Selection(options.include, options.exclude)
            manifest, problems = asyncio.run(
                export(client, writer, selection, bar, secrets=not options.without_secrets)
            )
            writer.finish(manifest)
    except OSError as e:
        raise Failure(f"{e.filename or arguments[0]}: {(e.strerror or str(e)).lower()}", code=WRONG) from None
    finally:
        client.close()
    count, resources = sum(resource.count for resource in manifest.resources), len(manifest.resources)
    sys.stdout.write(f"{count} objects of {resources} resources, resource version {manifest.resource_version}\n")
    return WRONG if problems else 0


async def export(
    client: Client, writer: DumpWriter, selection: Selection, bar: Bar, *, secrets: bool = True
) -> tuple[Manifest, int]:
    """Write all objects; return the manifest, and how many resources could not be listed. Raise Failure, OSError."""
    time = Clock().text()
    status, version = await get(client, "/version")
    git_version = str(version.get("gitVersion", "")) if status == 200 else ""
    served = await discover(client)
    problems = list(served.problems)
    try:
        selection = selection.resolve(served.aliases())
    except ValueError as e:
        raise refuse_unknown(e) from None
    resources = [
        resource
        for resource in served.once(selection.include)
        if is_dumped(resource, selection) and (secrets or resource.full_name != "secrets")
    ]
    resources.sort(key=lambda resource: FIRST.index(name) if (name := resource.full_name) in FIRST else len(FIRST))
    highest, entries = 0, []
    for resource in resources:
        bar.describe(resource.full_name, None)
        try:
            count, revision = await write_resource(client, writer, resource, bar)
        except ListError as e:
            problems.append(f"{resource.full_name}: {e}")
            writer.restart(file_name(resource.group, resource.plural))
            continue
        highest = max(highest, revision)
        name = file_name(resource.group, resource.plural)
        entries.append(
            DumpedResource(
                resource.group, resource.version, resource.plural, resource.kind, resource.namespaced, count, name
            )
        )
    for problem in problems:
        report(Failure(f"not exported: {problem}", code=WRONG))
    return Manifest(time, git_version, str(highest), tuple(entries)), len(problems)


def is_dumped(resource: Resource, selection: Selection) -> bool:
    """Report whether a resource is dumped: one that can be listed and created, and is selected."""
    name = resource.full_name
    if not resource.verbs.issuperset(("list", "create")) or not selection.takes(resource.group, resource.plural):
        return False
    return selection.names(name) or name not in BY_NAME


class ListError(Exception):
    """The refusal of a list."""


async def write_resource(client: Client, writer: DumpWriter, resource: Resource, bar: Bar) -> tuple[int, int]:
    """Write the objects of a resource; return their number, and the version of the list. Raise ListError."""
    name = file_name(resource.group, resource.plural)
    for attempt in range(TRIES):
        count, token, revision = 0, "", 0
        writer.restart(name)
        try:
            while token or not count:
                # A list whose pages expire again and again is asked for in one piece.
                page = await list_page(client, resource, token, PAGE if attempt < TRIES - 1 else 0)
                metadata, items = page.get("metadata") or {}, page.get("items") or []
                writer.write(name, lines(resource, items), more=bool(token))
                count += len(items)
                bar.advance(len(items))
                text, token = str(metadata.get("resourceVersion") or ""), metadata.get("continue") or ""
                revision = max(revision, int(text) if text.isdecimal() else 0)
                if not token:
                    break
            return count, revision
        except Expired:
            continue
    raise ListError("its pages expire before they are read")


async def list_page(client: Client, resource: Resource, token: str, limit: int) -> dict[str, Any]:
    """Return a page of a list. Raise Expired, ListError."""
    base = f"/apis/{resource.api_version}" if resource.group else f"/api/{resource.version}"
    query = urlencode({name: value for name, value in (("limit", limit), ("continue", token)) if value})
    status, content = await get(client, f"{base}/{resource.plural}?{query}")
    if status == 410:
        raise Expired
    if status != 200:
        raise ListError(str(content.get("message", "")) or f"code {status}")
    found: dict[str, Any] = content
    return found


def lines(resource: Resource, items: list[dict[str, Any]]) -> Iterator[bytes]:
    """Yield objects as lines, with the type that items of a list lack."""
    head = {"apiVersion": resource.api_version, "kind": resource.kind}
    for item in items:
        yield orjson.dumps({**head, **item})


COMMAND = Command(
    "export",
    (ExportOptions, AccessOptions),
    run,
    "Write the objects of a cluster to a new folder, or to an archive: DEST is the one, or ends in .tar.gz.",
    arguments="DEST",
    most=1,
    examples=(
        "hydrofoil export yesterday",
        "hydrofoil export yesterday.tar.gz --without-secrets --kubeconfig ~/.kube/config",
        "hydrofoil export small --include namespaces,pods,deployments.apps",
        "hydrofoil export events --include events,leases.coordination.k8s.io",
    ),
)
