"""Records of comma-separated values by the rules of Go's `encoding/csv`."""

from __future__ import annotations

from collections.abc import Iterator


class CsvError(ValueError):
    """Text that Go's reader refuses; the message has the place and none of the text."""


def records(text: str) -> Iterator[list[str]]:
    """Yield the records of a text: empty lines are skipped, records may differ in length. Raise CsvError."""
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    at = 0
    while at < len(lines):
        line = _strip_carriage_return(lines[at])
        at += 1
        if not line:
            continue
        record, at = _record(lines, line, at)
        yield record


def _strip_carriage_return(line: str) -> str:
    """Return a line without the carriage return before its end."""
    return line[:-1] if line.endswith("\r") else line


def _record(lines: list[str], line: str, at: int) -> tuple[list[str], int]:
    """Return the record that begins with a line, and the number of the line after it."""
    start = at
    fields: list[str] = []
    while True:
        if not line.startswith('"'):
            field, comma, line = line.partition(",")
            if '"' in field:
                raise CsvError(f'parse error on line {at}: bare " in non-quoted field')
            fields.append(field)
            if not comma:
                return fields, at
            continue
        line = line[1:]
        field = ""
        while True:
            part, quote, rest = line.partition('"')
            field += part
            if not quote:
                if at >= len(lines):
                    raise CsvError(
                        f'record on line {start}; parse error on line {at}: extraneous or missing " in quoted-field'
                    )
                field += "\n"
                line = _strip_carriage_return(lines[at])
                at += 1
            elif rest.startswith('"'):
                field += '"'
                line = rest[1:]
            elif rest.startswith(","):
                fields.append(field)
                line = rest[1:]
                break
            elif not rest:
                fields.append(field)
                return fields, at
            else:
                raise CsvError(f'parse error on line {at}: extraneous or missing " in quoted-field')
