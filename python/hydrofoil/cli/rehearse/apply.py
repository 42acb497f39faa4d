"""`hydrofoil rehearse apply`: what a server-side apply of files and folders would do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from hydrofoil.admission.options import AdmissionOptions
from hydrofoil.apis.options import ApiOptions
from hydrofoil.cli.access import AccessOptions
from hydrofoil.cli.command import Command
from hydrofoil.cli.failure import Failure
from hydrofoil.cli.rehearse.copy import Copy, identify, start_copy
from hydrofoil.cli.rehearse.differences import describe_differences
from hydrofoil.cli.rehearse.reading import RehearsalOptions, read_contents, read_documents, run_rehearsal
from hydrofoil.cli.rehearse.report import Report, tell_of_unread
from hydrofoil.cli.rehearse.webhooks import count_webhooks, tell_of_webhooks
from hydrofoil.clock import stopwatch
from hydrofoil.controls.apply import Applied, ObjectSet, path_of
from hydrofoil.controls.documents import Document
from hydrofoil.errors import ApiError
from hydrofoil.options import Options, anything, boolean, flag
from hydrofoil.server.dumped_log import Contents

Object = dict[str, Any]
OUTCOMES = ("created", "changed", "unchanged", "refused", "conflicts", "taken")
CONFLICT = "FieldManagerConflict"
OWNER = re.compile(r'conflict with "((?:[^"\\]|\\.)*)"(?: with subresource "([^"]*)")?(?: using (\S+?))?(?: at .*)?')


class ApplyRehearsalOptions(Options):
    """Apply."""

    field_manager: str = flag(
        "--field-manager", "", anything, "the name under which the fields would be owned", value="NAME"
    )
    force: bool = flag("--force", False, boolean, "take fields that others own", value="BOOL")
    namespace: str = flag(
        "-n", "", anything, "namespace of objects that name none (default default)", value="NAME", also=("--namespace",)
    )


def run(given: dict[str, Any], words: tuple[str, ...]) -> int:
    """Rehearse an apply; return the exit code. Raise Failure."""
    options = ApplyRehearsalOptions.pick(given)
    if not words:
        raise Failure("PATH is missing", "hydrofoil rehearse apply PATH --field-manager NAME")
    if not options.field_manager:
        raise Failure("--field-manager is missing", "it names the owner of the fields, such as helm or kubectl")
    documents = read_documents(words)
    return run_rehearsal(rehearse(read_contents(given), documents, options, given), given)


async def rehearse(
    contents: Contents, documents: Sequence[Document], options: ApplyRehearsalOptions, given: dict[str, Any]
) -> Report:
    """Return what an apply would do. Raise Failure."""
    begun = stopwatch()
    report = Report("refused", "conflicts")
    found: dict[str, list[Object]] = {name: [] for name in OUTCOMES}
    async with start_copy(contents, given, webhooks=given["webhooks"]) as copy:
        work = ApplyRehearsal(copy, documents, options)
        for document in work.documents:
            outcome, entry = await work.apply(document)
            found[outcome].append(entry)
            if entry.get("conflicts") and outcome != "conflicts":
                found["taken"].append(entry)
        webhooks = count_webhooks(contents, documents)
        report.content = {
            **found,
            "webhooks": {"called": given["webhooks"], "configurations": webhooks},
            "unread": list(copy.problems),
            "seconds": round(stopwatch() - begun, 3),
        }
    for outcome in OUTCOMES[:-1]:
        report.add_rows(outcome if outcome != "conflicts" else "conflict", found[outcome])
    numbers = ", ".join(f"{len(found[outcome])} {outcome}" for outcome in OUTCOMES[:-1])
    report.add_line(numbers)
    tell_of_unread(report, report.content["unread"])
    tell_of_webhooks(report, webhooks, called=given["webhooks"])
    return report


class ApplyRehearsal:
    """The objects of an apply, and the copy that they are applied to."""

    def __init__(self, copy: Copy, documents: Sequence[Document], options: ApplyRehearsalOptions) -> None:
        self._copy = copy
        self._options = options
        self._objects = copy.set_of(documents, options.field_manager, force=False)
        self._forced = copy.set_of(documents, options.field_manager)
        self.documents = self._objects.documents

    async def apply(self, document: Document) -> tuple[str, Object]:
        """Apply an object; return the outcome and its entry in the report."""
        entry: Object = {"source": document.origin, **identify(document.content)}
        before = await self._read(document, entry)
        try:
            applied = await self._apply(self._objects, document)
        except ApiError as e:
            owners = find_owners(e)
            if not owners:
                return "refused", {**entry, **describe_refusal(e, document.origin)}
            entry["conflicts"] = owners
            if not self._options.force:
                return "conflicts", entry
            try:
                applied = await self._apply(self._forced, document)
            except ApiError as e:
                return "refused", {**entry, **describe_refusal(e, document.origin)}
        if document.content["kind"] == "ResourceQuota":
            # It counts once its controller has looked at it.
            await self._copy.settle()
        entry["name"] = str(applied.content["metadata"].get("name") or entry["name"])
        if applied.created or before is None:
            return "created", entry
        diff = describe_differences(before, applied.content)
        return ("changed", {**entry, "diff": diff}) if diff else ("unchanged", entry)

    async def _apply(self, objects: ObjectSet, document: Document) -> Applied:
        return await objects.apply(document, self._options.namespace or None)

    async def _read(self, document: Document, entry: Object) -> Object | None:
        """Return an object as it is before; add its namespace to its entry."""
        resource = self._copy.find(str(document.content["apiVersion"]), str(document.content["kind"]))
        if resource is None:
            return None
        namespace = (entry["namespace"] or self._options.namespace or "default") if resource.namespaced else ""
        entry["namespace"] = namespace
        if not entry["name"]:
            return None
        answer = await self._copy.ask("GET", path_of(resource, namespace, entry["name"]))
        return answer.content() if answer.status == 200 else None


def find_owners(error: ApiError) -> list[Object]:
    """Return the fields of a conflict, each with its owner; none for another refusal."""
    found = []
    for cause in (error.details or {}).get("causes") or ():
        if error.code == 409 and cause.get("reason") == CONFLICT:
            message = str(cause.get("message") or "")
            match = OWNER.fullmatch(message)
            more = {"subresource": match[2]} if match and match[2] else {}
            version = {"version": match[3]} if match and match[3] else {}
            found.append(
                {"field": cause.get("field", ""), "manager": match[1] if match else message, **more, **version}
            )
    return found


def describe_refusal(error: ApiError, origin: str = "") -> Object:
    """Return code, reason and causes of a refusal."""
    causes = (error.details or {}).get("causes") or []
    return {"code": error.code, "reason": error.message.removeprefix(f"{origin}: "), "causes": causes}


COMMAND = Command(
    "rehearse apply",
    (ApplyRehearsalOptions, RehearsalOptions, AccessOptions, AdmissionOptions, ApiOptions),
    run,
    "Tell what a server-side apply of files, folders or a rendered chart would do to the objects of a dump or a server:"
    " create, change, be refused, or meet the fields of others. Nothing is written there.",
    arguments="PATH ...",
    most=None,
    examples=(
        "hydrofoil rehearse apply ./manifests --field-manager flux --from yesterday",
        "helm template web ./chart | hydrofoil rehearse apply - --field-manager helm --kubeconfig ~/.kube/config",
        "hydrofoil rehearse apply web.yaml --field-manager kubectl --force --json",
    ),
)
