"""Records as text."""

from __future__ import annotations

from hydrofoil.audit import legacy
from hydrofoil.audit.level import COMPLETE
from hydrofoil.request import User
from tests.unit.audit.events import event


def test_a_record_is_one_line_of_quoted_texts() -> None:
    made = event("/api/v1/namespaces/n/pods/p", agent='a"b\nc')
    made.acts_as(User("bob"), "")
    assert legacy.line(made, COMPLETE, 200).decode() == (
        '2026-01-02T03:04:05.000006Z AUDIT: id="a" stage="ResponseComplete" ip="192.0.2.1" method="get" user="ann" '
        'groups="\\"g\\"" as="bob" asgroups="<lookup>" user-agent="a\\"b\\nc" namespace="n" '
        'uri="/api/v1/namespaces/n/pods/p" response="200"'
    )


def test_absent_members_are_shown_as_such() -> None:
    made = event("/version", user=None, addresses=())
    shown = legacy.line(made, COMPLETE, 0).decode()
    assert 'ip="<unknown>"' in shown and 'user="<none>" groups="<none>" as="<self>" asgroups="<lookup>"' in shown
    assert 'namespace="<none>"' in shown and 'response="<deferred>"' in shown
