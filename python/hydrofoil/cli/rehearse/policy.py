"""`hydrofoil rehearse policy`: which stored objects and recorded requests new policies or webhooks would refuse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hydrofoil.admission.options import AdmissionOptions
from hydrofoil.apis.options import ApiOptions
from hydrofoil.cli.access import AccessOptions
from hydrofoil.cli.command import Command
from hydrofoil.cli.failure import Failure
from hydrofoil.cli.rehearse.copy import Copy, start_copy
from hydrofoil.cli.rehearse.probes import OPERATIONS, Probes
from hydrofoil.cli.rehearse.reading import RehearsalOptions, read_change, read_contents, run_rehearsal
from hydrofoil.cli.rehearse.recorded import add_requests, judge_requests
from hydrofoil.cli.rehearse.report import Report, tell_of_unread
from hydrofoil.cli.rehearse.scope import POLICIES, Scope, scope_of
from hydrofoil.cli.rehearse.webhooks import KINDS, count_webhooks, tell_of_webhooks
from hydrofoil.clock import stopwatch
from hydrofoil.controls.documents import Document
from hydrofoil.dumps.object import DumpedObject
from hydrofoil.server.dumped_log import Contents

Object = dict[str, Any]


def run(given: dict[str, Any], words: tuple[str, ...]) -> int:
    """Rehearse policies; return the exit code. Raise Failure."""
    if not words:
        raise Failure("POLICY.yaml is missing", "hydrofoil rehearse policy POLICY.yaml BINDING.yaml")
    change, log = read_change(words)
    check_webhooks(change, given)
    return run_rehearsal(rehearse(read_contents(given), change, log, given), given)


def check_webhooks(change: Sequence[Document], given: Mapping[str, Any]) -> None:
    """Raise Failure for webhooks that may not be called: nothing would be known of them."""
    if not given["webhooks"] and any(document.content["kind"] in KINDS for document in change):
        raise Failure("webhooks are not called without --webhooks", "it calls them, with dry runs")


async def rehearse(contents: Contents, change: Sequence[Document], log: str, given: Mapping[str, Any]) -> Report:
    """Return what a change refuses, of the stored objects and of the requests of a log, if there is one."""
    begun = stopwatch()
    report = Report("invalid", "refused", "requests_refused")
    scope = scope_of(change)
    async with start_copy(contents, given, webhooks=given["webhooks"]) as copy:
        invalid = await copy.apply(change)
        objects = [one for one in contents.objects.objects() if is_probed(copy, one, scope)]
        probes = Probes(copy)
        entries = [entry for one in objects for entry in await probes.run(one, scope.operations)]
        warned, unread = probes.warned, list(copy.problems)
    refused, before = await compare(contents, entries, objects, marks_of(contents, change), given)
    webhooks = count_webhooks(contents, change)
    report.content = {
        "invalid": invalid,
        "objects": len(objects),
        "refused": refused,
        "refused_before": before,
        "warned": warned,
        "webhooks": {"called": bool(given["webhooks"]), "configurations": webhooks},
        "unread": unread,
    }
    report.add_rows("invalid", invalid)
    report.add_rows("refused", refused)
    report.add_rows("refused before, too", before)
    report.add_rows("warned", warned)
    report.add_line(f"{len(objects)} objects, {len(refused)} refused, {len(warned)} with warnings")
    if log:
        add_requests(report, await judge_requests(contents, change, log, given))
    report.content["seconds"] = round(stopwatch() - begun, 3)
    tell_of_unread(report, unread)
    tell_of_webhooks(report, webhooks, called=given["webhooks"])
    return report


def is_probed(copy: Copy, found: DumpedObject, scope: Scope) -> bool:
    """Report whether a change may concern an object."""
    resource = copy.find(found.api_version, found.kind)
    return resource is not None and "update" in resource.verbs and scope.concerns(resource.plural)


def marks_of(contents: Contents, change: Sequence[Document]) -> list[str]:
    """Return what is in the refusals of policies that the change brings, and in no others."""
    present = {(one.kind, one.name) for one in contents.objects.objects()}
    names = ((one.content["kind"], str((one.content.get("metadata") or {}).get("name"))) for one in change)
    return [f"{kind} '{name}' with binding" for kind, name in names if kind in POLICIES and (kind, name) not in present]


def names_change(entry: Object, marks: Sequence[str]) -> bool:
    """Report whether a refusal is by a policy that the change brings."""
    return any(mark in entry["reason"] for mark in marks)


async def compare(
    contents: Contents,
    entries: Sequence[Object],
    objects: Sequence[DumpedObject],
    marks: Sequence[str],
    given: Mapping[str, Any],
) -> tuple[list[Object], list[Object]]:
    """Return what is refused by the change, and what is refused without it for the same reason."""
    refused, before = [entry for entry in entries if names_change(entry, marks)], list[Object]()
    entries = [entry for entry in entries if not names_change(entry, marks)]
    if not entries:
        return refused, before
    by_key = {one.key: one for one in objects}
    async with start_copy(contents, given, webhooks=given["webhooks"]) as copy:
        probes = Probes(copy)
        for entry in entries:
            group = entry["apiVersion"].rpartition("/")[0]
            one = by_key[group, entry["kind"], entry["namespace"], entry["name"]]
            was = await probes.run(one, (entry["operation"],))
            is_same = any(other["reason"] == entry["reason"] for other in was)
            (before if is_same else refused).append(entry)
    return refused, before


COMMAND = Command(
    "rehearse policy",
    (RehearsalOptions, AccessOptions, AdmissionOptions, ApiOptions),
    run,
    "Tell which stored objects of a dump or a server new admission policies, webhooks and other objects of files would"
    f" refuse ({', '.join(OPERATIONS)}), and which requests of an audit log, if one is among the files. Nothing is"
    " written there.",
    arguments="POLICY.yaml BINDING.yaml ...",
    most=None,
    examples=(
        "hydrofoil rehearse policy policy.yaml binding.yaml --from yesterday",
        "hydrofoil rehearse policy policy.yaml binding.yaml audit.log --kubeconfig ~/.kube/config",
        "hydrofoil rehearse policy webhook.yaml --webhooks --from yesterday --json",
    ),
)
