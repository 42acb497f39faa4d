"""The form of log lines."""

from __future__ import annotations

import json
import logging

from hydrofoil.cli.log import JsonFormatter, TextFormatter

FIELDS = {"auditID": "a-1", "user": "ann\n2026 forged", "status": 200}


def record() -> logging.LogRecord:
    made = logging.LogRecord("hydrofoil", logging.INFO, "", 0, "HTTP", (), None)
    made.fields = FIELDS
    return made


def test_text_lines_carry_the_request_and_stay_one_line() -> None:
    shown = TextFormatter("%(levelname)s %(message)s").format(record())
    assert shown == 'INFO HTTP auditID="a-1" user="ann\\n2026 forged" status=200'


def test_json_lines_carry_the_request() -> None:
    found = json.loads(JsonFormatter().format(record()))
    assert {name: found[name] for name in FIELDS} == FIELDS
    assert found["msg"] == "HTTP"
