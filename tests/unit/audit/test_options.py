"""The flags of auditing."""

from __future__ import annotations

from typing import Any

import pytest

from hydrofoil.audit.options import AuditOptions, check, rate


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"audit_log_mode": "odd"}, 'invalid audit log mode odd, allowed modes are "batch,blocking,blocking-strict"'),
        ({"audit_log_format": "xml"}, 'invalid audit log format xml, allowed formats are "legacy,json"'),
        ({"audit_log_version": "x/v7"}, r'invalid group version, allowed versions are \["audit.k8s.io/v1"\]'),
        ({"audit_log_version": "x/y/z"}, "unexpected GroupVersion string: x/y/z"),
        ({"audit_log_maxage": -1}, "--audit-log-maxage -1 can't be a negative number"),
        ({"audit_log_mode": "batch", "audit_log_batch_buffer_size": 0}, "batch log buffer size 0, must be a positive"),
        ({"audit_log_mode": "batch", "audit_log_batch_throttle_enable": True}, "throttle QPS 0, must be"),
        ({"audit_log_truncate_max_event_size": 0}, "truncate log max event size 0"),
        ({"audit_log_truncate_max_batch_size": 1}, r"max batch size 1, must be greater than max event size \(102400\)"),
    ],
)
def test_values_that_cannot_be_used_are_refused(given: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        check(AuditOptions(audit_log_path="-", **given))
    check(AuditOptions(**given))
    if not any(name in given for name in ("audit_log_format", "audit_log_maxage")):
        moved = {name.replace("audit_log", "audit_webhook"): value for name, value in given.items()}
        if "audit_log_batch_throttle_enable" in given:
            moved["audit_webhook_batch_throttle_qps"] = 0.0
        with pytest.raises(ValueError, match=why.replace(" log ", " webhook ")):
            check(AuditOptions(audit_webhook_config_file="x", **moved))


def test_rates_are_numbers() -> None:
    assert rate("2.5") == 2.5
    for text in ("x", "nan", "inf", ""):
        with pytest.raises(ValueError, match="ParseFloat"):
            rate(text)
