"""Records on their way from a request to log and webhook."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from hydrofoil.audit.level import COMPLETE, RECEIVED, RESPONSE, Chosen
from hydrofoil.audit.metrics import Counts
from hydrofoil.audit.options import AuditOptions, Delivery
from hydrofoil.audit.policy import Policy, Rule
from hydrofoil.audit.service import LONGEST_HEADERS, MOST_SENDERS, Audit, Plugin, auditing
from hydrofoil.clock import Chance, Clock
from hydrofoil.request import User, parse


class Incoming:
    """A request."""

    audit_id = "a"
    remote = "192.0.2.1"

    def __init__(self, target: str, headers: Mapping[str, str] = {}) -> None:
        self.target = target
        self.headers = headers
        self.info = parse("GET", target)


class Kept:
    """A backend that keeps records."""

    blocks = False

    def __init__(self) -> None:
        self.lines: list[bytes] = []

    def take(self, line: bytes, *, waits: bool = False) -> None:
        self.lines.append(line)


def audit(chosen: Chosen, **changes: Any) -> tuple[Any, Kept]:
    made: Any = Audit(Policy([Rule(chosen)]), Clock(), Counts())
    kept: Any = Kept()
    made.plugins = [Plugin(replace(Delivery.of(AuditOptions(), "log"), **changes), kept)]
    return made, kept


def begun(made: Any, target: str = "/x", headers: Mapping[str, str] = {}, user: User | None = None) -> Any:
    return made.begin(Incoming(target, headers), user)


def test_omitted_stages_have_no_event() -> None:
    made, kept = audit(Chosen(1, frozenset((RECEIVED,))))
    event = begun(made)
    made.emit(event, RECEIVED)
    assert kept.lines == [] and made.counts.events == 0
    made.emit(event, COMPLETE, 200)
    assert len(kept.lines) == made.counts.events == 1


def test_a_policy_of_none_has_no_record() -> None:
    made, _ = audit(Chosen(0))
    assert begun(made) is None
    assert made.counts.levels == [1, 0, 0, 0]


def test_tokens_in_urls_and_the_end_of_long_agents_are_left_out() -> None:
    made, kept = audit(Chosen(1))
    event = begun(made, "/x?a=1&access_token=abc&b=2", {"User-Agent": "x" * 2000})
    made.emit(event, RECEIVED)
    found = json.loads(kept.lines[0])
    assert found["requestURI"] == "/x?a=1&access_token=&b=2"
    assert found["userAgent"] == "x" * 1024 + "...TRUNCATED"
    assert found["requestReceivedTimestamp"] == found["stageTimestamp"]


def test_large_events_lose_their_objects_or_themselves() -> None:
    made, kept = audit(Chosen(RESPONSE), truncates=True, event_bytes=1000)
    event = begun(made)
    event.responded(b'{"a":"%s"}' % (b"x" * 1000))
    made.emit(event, COMPLETE, 200)
    found = json.loads(kept.lines[0])
    assert "responseObject" not in found and found["annotations"] == {"audit.k8s.io/truncated": "true"}
    made.emit(begun(made, "/" + "x" * 1000), COMPLETE, 200)
    assert len(kept.lines) == 1 and made.counts.lost == {"truncate": 1}


def test_senders_are_encoded_once_and_their_number_and_size_are_bounded() -> None:
    made, _ = audit(Chosen(1))
    users = [User(f"u{n}") for n in range(MOST_SENDERS + 1)]
    for number, user in enumerate(users):
        agents = {"User-Agent": f"a{number % 2}"}
        sender = begun(made, headers=agents, user=user).sender
        assert begun(made, headers=agents, user=user).sender is sender and sender.user is user
        assert begun(made, headers={"User-Agent": "b"}, user=user).sender is not sender
    assert len(made._senders) < MOST_SENDERS
    before = len(made._senders)
    assert begun(made, headers={"User-Agent": "x" * LONGEST_HEADERS}).sender.agent == "x" * LONGEST_HEADERS
    assert len(made._senders) == before


def test_nothing_is_recorded_without_a_policy_or_a_place(tmp_path: Path) -> None:
    policy = tmp_path / "p.yaml"
    policy.write_text("apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n")

    def made(**given: Any) -> Audit | None:
        return auditing(AuditOptions(**given), Clock(), Chance(), Counts())

    assert made(audit_policy_file=str(policy)) is None
    assert made(audit_log_path=str(tmp_path / "a.log")) is None
    found = made(
        audit_policy_file=str(policy), audit_log_path=str(tmp_path / "a.log"), audit_log_mode="blocking-strict"
    )
    assert found is not None and found.strict and not found.blocks
    with pytest.raises(ValueError, match="initializing audit webhook: stat /nowhere: no such file or directory"):
        made(audit_policy_file=str(policy), audit_webhook_config_file="/nowhere")
    with pytest.raises(ValueError, match="ensureLogFile: open "):
        made(audit_policy_file=str(policy), audit_log_path=str(tmp_path))
