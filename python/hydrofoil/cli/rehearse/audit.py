"""`hydrofoil rehearse audit`: which requests of an audit log a change of policies, roles or webhooks would refuse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hydrofoil.admission.options import AdmissionOptions
from hydrofoil.apis.options import ApiOptions
from hydrofoil.cli.access import AccessOptions
from hydrofoil.cli.command import Command
from hydrofoil.cli.failure import Failure
from hydrofoil.cli.rehearse.policy import check_webhooks
from hydrofoil.cli.rehearse.reading import RehearsalOptions, read_change, read_contents, run_rehearsal
from hydrofoil.cli.rehearse.recorded import add_requests, judge_requests
from hydrofoil.cli.rehearse.report import Report, tell_of_unread
from hydrofoil.cli.rehearse.webhooks import count_webhooks, tell_of_webhooks
from hydrofoil.clock import stopwatch
from hydrofoil.controls.documents import Document
from hydrofoil.server.dumped_log import Contents


def run(given: dict[str, Any], words: tuple[str, ...]) -> int:
    """Rehearse the requests of a log; return the exit code. Raise Failure."""
    change, log = read_change(words, log_first=True)
    if not log:
        raise Failure("AUDIT.log is missing", "hydrofoil rehearse audit AUDIT.log POLICY.yaml BINDING.yaml")
    if not change:
        raise Failure("the change is missing", "hydrofoil rehearse audit AUDIT.log POLICY.yaml BINDING.yaml")
    check_webhooks(change, given)
    return run_rehearsal(rehearse(read_contents(given), change, log, given), given)


async def rehearse(contents: Contents, change: Sequence[Document], log: str, given: Mapping[str, Any]) -> Report:
    """Return what a change refuses of the requests of a log."""
    begun = stopwatch()
    report = Report("invalid", "requests_refused")
    judged = await judge_requests(contents, change, log, given)
    webhooks = count_webhooks(contents, change)
    report.content = {
        "invalid": judged.invalid,
        "webhooks": {"called": bool(given["webhooks"]), "configurations": webhooks},
        "unread": judged.unread,
    }
    report.add_rows("invalid", judged.invalid)
    add_requests(report, judged)
    report.content["seconds"] = round(stopwatch() - begun, 3)
    tell_of_unread(report, judged.unread)
    tell_of_webhooks(report, webhooks, called=given["webhooks"])
    return report


COMMAND = Command(
    "rehearse audit",
    (RehearsalOptions, AccessOptions, AdmissionOptions, ApiOptions),
    run,
    "Tell which requests of an audit log would be refused once the policies, roles, webhooks and other objects of files"
    " are there. Nothing is written to the server, and no request of the log is sent to it.",
    arguments="AUDIT.log FILE ...",
    most=None,
    examples=(
        "hydrofoil rehearse audit audit.log policy.yaml binding.yaml --from yesterday",
        "hydrofoil rehearse audit audit.log roles.yaml --kubeconfig ~/.kube/config --json",
    ),
)
