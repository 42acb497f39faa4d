"""The webhooks of a rehearsal, which are called only where that is allowed."""

from __future__ import annotations

from collections.abc import Iterable

from hydrofoil.cli.rehearse.report import Report
from hydrofoil.controls.documents import Document
from hydrofoil.server.dumped_log import Contents

KINDS = ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration")


def count_webhooks(contents: Contents, documents: Iterable[Document] = ()) -> int:
    """Return the number of webhook configurations among the objects and the files."""
    names = {(one.kind, one.name) for one in contents.objects.objects() if one.kind in KINDS}
    names |= {
        (kind, str((document.content.get("metadata") or {}).get("name")))
        for document in documents
        if (kind := document.content["kind"]) in KINDS
    }
    return len(names)


def tell_of_webhooks(report: Report, count: int, *, called: bool) -> None:
    """Add a line where webhooks were not asked."""
    if count and not called:
        report.add_line(f"{count} webhook configurations were not asked (--webhooks calls them, with dry runs)")
