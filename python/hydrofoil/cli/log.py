"""The form of log lines."""

from __future__ import annotations

import json
import logging
import sys
import time

from hydrofoil.go_text import quote


class JsonFormatter(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "ts": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created)),
            "level": record.levelname.lower(),
            "logger": record.name,
            "msg": record.getMessage(),
        }
        line |= getattr(record, "fields", {})
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line)


class TextFormatter(logging.Formatter):
    """A line of text, with the fields of the request quoted: no client can write a line of its own."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - it overrides
        """Add the fields to the message, before a traceback."""
        fields: dict[str, str | int] = getattr(record, "fields", {})
        shown = (f"{name}={quote(value) if isinstance(value, str) else value}" for name, value in fields.items())
        return " ".join((super().formatMessage(record), *shown))


def configure(form: str, verbosity: int) -> None:
    """Set up the log: warnings by default, more with `-v`."""
    handler = logging.StreamHandler(sys.stderr)
    if form == "json":
        handler.setFormatter(JsonFormatter())
    else:
        handler.setFormatter(TextFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    level = logging.WARNING if verbosity <= 0 else logging.INFO if verbosity < 4 else logging.DEBUG
    logging.basicConfig(level=level, handlers=[handler], force=True)
