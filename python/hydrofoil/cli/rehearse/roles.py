"""`hydrofoil rehearse roles`: which rights and recorded requests a change of roles and bindings would end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any

from hydrofoil.admission.options import AdmissionOptions
from hydrofoil.apis.options import ApiOptions
from hydrofoil.cli.access import AccessOptions
from hydrofoil.cli.command import Command
from hydrofoil.cli.failure import Failure
from hydrofoil.cli.rehearse.copy import start_copy
from hydrofoil.cli.rehearse.grants import find_grants
from hydrofoil.cli.rehearse.reading import RehearsalOptions, read_change, read_contents, run_rehearsal
from hydrofoil.cli.rehearse.recorded import add_requests, judge_requests
from hydrofoil.cli.rehearse.report import Report, tell_of_unread
from hydrofoil.cli.rehearse.rights import MODES, Rights, is_role
from hydrofoil.clock import stopwatch
from hydrofoil.controls.documents import Document
from hydrofoil.server.dumped_log import Contents

Object = dict[str, Any]


def run(given: dict[str, Any], words: tuple[str, ...]) -> int:
    """Rehearse a change of roles; return the exit code. Raise Failure."""
    if not words:
        raise Failure("ROLES.yaml is missing", "hydrofoil rehearse roles ROLES.yaml AUDIT.log")
    change, log = read_change(words)
    if not any(is_role(document.content) for document in change):
        raise Failure("no role and no binding among the files", "hydrofoil rehearse roles ROLES.yaml AUDIT.log")
    return run_rehearsal(rehearse(read_contents(given), change, log, given), given)


async def rehearse(contents: Contents, change: Sequence[Document], log: str, given: Mapping[str, Any]) -> Report:
    """Return what a change of roles ends: requests of a log if there is one, and rights."""
    begun = stopwatch()
    # With a log, what is asked for counts, and not what might be.
    report = Report("invalid", "requests_refused" if log else "lost")
    async with AsyncExitStack() as copies:
        before, after = [await copies.enter_async_context(start_copy(contents, given, modes=MODES)) for _ in range(2)]
        invalid = await after.apply(change)
        rights, unread = (Rights(before), Rights(after)), list(before.problems)
        lost, won = list[Object](), list[Object]()
        for grant in await find_grants(before, after, change):
            was, now = [(await one.ask(grant.user, grant.request))[0] for one in rights]
            if was != now:
                (lost if was else won).append(grant.entry())
    report.content = {"invalid": invalid, "lost": lost, "gained": won, "unread": unread}
    report.add_rows("invalid", invalid)
    report.add_rows("lost", lost)
    report.add_rows("gained", won)
    report.add_line(f"{len(lost)} rights lost, {len(won)} gained")
    if log:
        add_requests(report, await judge_requests(contents, change, log, given))
    tell_of_unread(report, unread)
    report.content["seconds"] = round(stopwatch() - begun, 3)
    return report


COMMAND = Command(
    "rehearse roles",
    (RehearsalOptions, AccessOptions, AdmissionOptions, ApiOptions),
    run,
    "Tell which rights users would lose and gain once the roles and bindings of files are there, and which requests of"
    " an audit log, if one is among the files, would be refused. Nothing is written there.",
    arguments="ROLES.yaml ... [AUDIT.log]",
    most=None,
    examples=(
        "hydrofoil rehearse roles roles.yaml --from yesterday",
        "hydrofoil rehearse roles roles.yaml audit.log --kubeconfig ~/.kube/config",
    ),
)
