"""`hydrofoil rehearse definition`: what a new version of a definition does to the objects that are stored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hydrofoil.admission.options import AdmissionOptions
from hydrofoil.apis.options import ApiOptions
from hydrofoil.cli.access import AccessOptions
from hydrofoil.cli.command import Command
from hydrofoil.cli.failure import Failure
from hydrofoil.cli.rehearse.assumption import assume_definition
from hydrofoil.cli.rehearse.columns import compare_columns
from hydrofoil.cli.rehearse.copy import Copy, identify, start_copy
from hydrofoil.cli.rehearse.instances import Instances
from hydrofoil.cli.rehearse.reading import RehearsalOptions, read_contents, read_documents, run_rehearsal
from hydrofoil.cli.rehearse.report import Report, tell_of_unread
from hydrofoil.cli.rehearse.versions import (
    describe_versions,
    probe_version,
    served_versions,
    storage_version,
    to_storage_version,
)
from hydrofoil.clock import stopwatch
from hydrofoil.dumps.order import DEFINITION
from hydrofoil.server.dumped_log import Contents

Object = dict[str, Any]
PATH = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
NOT_CONVERTED = "conversion to {} and back: it is by a webhook, which is called with --webhooks alone"
LISTS = ("refused", "refused_before", "tolerated", "loses", "gains", "unjudged")


def run(given: dict[str, Any], words: tuple[str, ...]) -> int:
    """Rehearse a definition; return the exit code. Raise Failure."""
    if not words:
        raise Failure("NEW.yaml is missing", "hydrofoil rehearse definition NEW.yaml")
    definitions = [
        document.content
        for document in read_documents(words)
        if (document.content["apiVersion"].rpartition("/")[0], document.content["kind"]) == DEFINITION
    ]
    if not definitions:
        raise Failure(f"no CustomResourceDefinition in {', '.join(words)}")
    if not all(identify(definition)["name"] for definition in definitions):
        raise Failure("a definition needs a name")
    return run_rehearsal(rehearse_all(read_contents(given), definitions, given), given)


async def rehearse_all(contents: Contents, definitions: list[Object], given: Mapping[str, Any]) -> Report:
    """Return what definitions do. Raise Failure."""
    begun = stopwatch()
    report = Report("breaks")
    found = [await rehearse(contents, definition, given, report) for definition in definitions]
    seconds = {"seconds": round(stopwatch() - begun, 3)}
    report.content = {"breaks": any(one["breaks"] for one in found), "definitions": found, **seconds}
    return report


async def rehearse(contents: Contents, new: Object, given: Mapping[str, Any], report: Report) -> Object:
    """Return what one definition does. Raise Failure."""
    webhooks = bool(given["webhooks"])
    name = identify(new)["name"]
    contents = assume_definition(contents, new)
    async with start_copy(contents, given, webhooks=webhooks) as copy:
        answer = await copy.ask("GET", f"{PATH}/{name}")
        old = answer.content() if answer.status == 200 else None
        base = storage_version(old) if old is not None else ""
        before = Instances(copy, old, base)
        problem = await to_storage_version(copy, contents, old) or await before.read()
        tables = await before.tables()
        found: Object = {"definition": name, **await define(copy, new, old), "objects": len(before.items)}
        found |= {entry: [] for entry in (*LISTS, "conversions", "columns")}
        if problem:
            found["unjudged"].append({"reason": problem})
        if found["accepted"] and not problem:
            now = found.pop("now")
            after = Instances(copy, now, probe_version(now, base))
            await judge(contents, given, before, after, found)
            found["columns"] = compare_columns(tables, await after.tables(), old, now)
            if after.is_converted_by_webhook and not webhooks:
                others = [name for name in served_versions(now) if name != after.version]
                found["unjudged"] += [{"version": name, "reason": NOT_CONVERTED.format(name)} for name in others]
            else:
                # The last step: it writes.
                found["conversions"] = await after.there_and_back()
            found["versions"] = describe_versions(old, now)
        else:
            found["versions"] = describe_versions(old, found.pop("now") if found["accepted"] else old)
        found["unread"] = list(copy.problems)
    found["breaks"] = (
        not found["accepted"]
        or any(found[name] for name in ("refused", "loses"))
        or any(one["loses"] or one["failed"] for one in found["conversions"])
    )
    print_definition(report, found)
    return found


async def define(copy: Copy, new: Object, old: Object | None) -> Object:
    """Bring the new definition to the copy; return whether it is accepted, and the definition as it is then."""
    if old is None:
        answer = await copy.ask("POST", PATH, new)
    else:
        metadata = {**new["metadata"], **{name: old["metadata"][name] for name in ("resourceVersion", "uid")}}
        body = {**new, "metadata": metadata, "status": old.get("status") or {}}
        answer = await copy.ask("PUT", f"{PATH}/{metadata['name']}", body)
    content = answer.content()
    if answer.status >= 400:
        causes = (content.get("details") or {}).get("causes") or []
        return {"accepted": False, "reason": content.get("message", ""), "causes": causes, "now": old}
    spec = content["spec"]
    for version in served_versions(content):
        # An answer comes once a definition is served; the names of a new one are accepted behind it.
        await copy.wait_for(spec["group"], version, spec["names"]["kind"])
    now = (await copy.ask("GET", f"{PATH}/{content['metadata']['name']}")).content()
    conditions = (now.get("status") or {}).get("conditions") or ()
    refused = [one for one in conditions if one["type"] == "NamesAccepted" and one["status"] != "True"]
    return {"accepted": not refused, "reason": refused[0]["message"] if refused else "", "causes": [], "now": now}


async def judge(
    contents: Contents,
    given: Mapping[str, Any],
    before: Instances,
    after: Instances,
    found: Object,
) -> None:
    """Compare the objects, and try the least update and the creation of each."""
    if not after.version:
        found["unjudged"].append({"reason": "no version is served"})
        return
    if problem := await after.read():
        found["unjudged"].append({"reason": problem})
        return
    if not before.is_converted_by_webhook and not after.is_converted_by_webhook:
        # A webhook moves fields: only the way there and back tells what it loses.
        found["loses"], found["gains"] = before.compare(after)
    refused = await after.try_updates()
    if refused and before.definition is not None:
        # By a second copy, which has the old definition.
        async with start_copy(contents, given, webhooks=bool(given["webhooks"])) as other:
            old = Instances(other, before.definition, before.version)
            before_too = await old.refused_among(refused)
        found["refused"] = [one for one in refused if (one["namespace"], one["name"]) not in before_too]
        found["refused_before"] = [one for one in refused if (one["namespace"], one["name"]) in before_too]
    else:
        found["refused"] = refused
    known = {(one["namespace"], one["name"]) for one in refused}
    found["tolerated"] = [one for one in await after.try_creations() if (one["namespace"], one["name"]) not in known]


def print_definition(report: Report, found: Object) -> None:
    """Add the rows and lines of a definition."""
    if not found["accepted"]:
        kind = {
            "kind": "CustomResourceDefinition",
            "apiVersion": "apiextensions.k8s.io/v1",
            "name": found["definition"],
        }
        report.add_rows("refused", [{**kind, "reason": found["reason"]}])
    titles = {
        "refused": "refused",
        "refused_before": "refused before, too",
        "loses": "loses",
        "gains": "gains",
        "tolerated": "tolerated",
        "unjudged": "not judged",
    }
    for name, title in titles.items():
        report.add_rows(title, found[name])
    for conversion in found["conversions"]:
        report.add_rows(f"loses by {conversion['version']}", conversion["loses"])
        report.add_rows(f"fails in {conversion['version']}", conversion["failed"])
    for column in found["columns"]:
        what = f"{column['version']} {column['name']}: {column['change']}, empty in {column['empty']}"
        report.add_rows("column", [{"name": found["definition"], "reason": what}])
    tell_of_unread(report, found["unread"])
    versions = found["versions"]
    stored = ", ".join(versions["stored"]) or "none"
    line = f"{found['definition']}: {found['objects']} objects, {len(found['refused'])} refused, "
    line += f"{len(found['loses'])} lose fields, {len(found['tolerated'])} tolerated as they are; "
    report.add_line(f"{line}stored versions: {stored}; storage version: {versions['storage'] or 'none'}")
    if versions["old"]:
        names = ", ".join(versions["old"])
        report.add_line(
            f"still stored, and not the storage version: {names}; rewrite the objects before they are removed"
        )


COMMAND = Command(
    "rehearse definition",
    (RehearsalOptions, AccessOptions, AdmissionOptions, ApiOptions),
    run,
    "Tell what a new definition does to the stored objects of a dump or a server: which would be refused on their next"
    " update, which lose fields, and which versions are still stored. Nothing is written there.",
    arguments="NEW.yaml ...",
    most=None,
    examples=(
        "hydrofoil rehearse definition crd.yaml --from yesterday",
        "hydrofoil rehearse definition crd.yaml --kubeconfig ~/.kube/config --json",
        "hydrofoil rehearse definition crd.yaml --from yesterday.tar.gz --webhooks",
    ),
)
