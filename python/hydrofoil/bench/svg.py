"""Plots as SVG: lines over time, and bars. Colours are classes, so that the page decides them."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import floor, log10
from typing import NamedTuple

WIDTH, HEIGHT = 300, 170
NARROW = 220
"""The width of a plot of bars."""
LEFT, RIGHT, TOP, BOTTOM = 38, 8, 12, 22
MARKS = 4
"""The lines of a scale, at most one more."""


class Line(NamedTuple):
    """The values of one colour; a missing one interrupts the line."""

    name: str
    points: Sequence[tuple[float, float | None]]


def scale(most: float) -> list[float]:
    """Return the marks of a scale from 0: round numbers up to the value or just above."""
    if most <= 0:
        return [0.0, 1.0]
    raw = most / MARKS
    unit = 10.0 ** floor(log10(raw))
    step = next(unit * factor for factor in (1, 2, 2.5, 5, 10) if unit * factor >= raw * 0.999)
    marks = [0.0]
    while marks[-1] < most * 0.999:
        marks.append(round(step * len(marks), 10))
    return marks


def short(value: float) -> str:
    """Return a number as a mark shows it."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}"


def lines(title: str, unit: str, given: Sequence[Line]) -> str:
    """Return a plot of lines over seconds; empty if there is no value."""
    values = [v for line in given for _, v in line.points if v is not None]
    if not values:
        return ""
    times = [t for line in given for t, _ in line.points]
    marks, last = scale(max(values)), max(times) or 1.0
    wide, high = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def place(t: float, value: float) -> str:
        return f"{LEFT + t / last * wide:.1f},{TOP + high - value / marks[-1] * high:.1f}"

    parts = [_grid(marks, high, wide)]
    for at in scale(last)[:-1]:
        x = LEFT + at / last * wide
        parts.append(f'<text class="mark" x="{x:.1f}" y="{HEIGHT - 6}" text-anchor="middle">{short(at)}s</text>')
    for number, line in enumerate(given):
        for run in _runs(line.points):
            path = " ".join(place(t, v) for t, v in run)
            if len(run) == 1:
                across, _, down = path.partition(",")
                parts.append(f'<circle class="dot c{number}" cx="{across}" cy="{down}" r="2.5"/>')
            else:
                if len(given) == 1:
                    (first, _), (end, _) = run[0], run[-1]
                    area = f"{place(first, 0)} {path} {place(end, 0)}"
                    parts.append(f'<polygon class="area c{number}" points="{area}"/>')
                parts.append(f'<polyline class="line c{number}" points="{path}"/>')
    keys = "".join(f'<span class="key k{n}">{escape(line.name)}</span>' for n, line in enumerate(given) if line.name)
    return _figure(title, unit, "".join(parts), keys)


def bars(title: str, unit: str, given: Sequence[tuple[str, float | None]]) -> str:
    """Return a plot of one bar for each name; empty if there is no value."""
    values = [value for _, value in given if value is not None]
    if not values:
        return ""
    marks = scale(max(values))
    wide, high = NARROW - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    slot = wide / len(given)
    room = max(int(slot / 6), 3)
    parts = [_grid(marks, high, wide)]
    for number, (name, value) in enumerate(given):
        tall = (value or 0.0) / marks[-1] * high
        x, width = LEFT + number * slot + slot * 0.2, slot * 0.6
        y = TOP + high - tall
        parts.append(
            f'<rect class="bar c{number}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{tall:.1f}" rx="2"/>'
        )
        middle = x + width / 2
        shown = "-" if value is None else short(value)
        parts.append(
            f'<text class="value" x="{middle:.1f}" y="{max(y - 3, 8):.1f}" text-anchor="middle">{shown}</text>'
        )
        label = name if len(name) <= room else name[: room - 1] + "…"
        parts.append(
            f'<text class="mark" x="{middle:.1f}" y="{HEIGHT - 6}" text-anchor="middle">{escape(label)}</text>'
        )
    return _figure(title, unit, "".join(parts), "", NARROW)


def _grid(marks: Sequence[float], high: float, wide: float) -> str:
    parts = []
    for mark in marks:
        y = TOP + high - mark / marks[-1] * high
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{LEFT + wide}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text class="mark" x="{LEFT - 5}" y="{y + 3:.1f}" text-anchor="end">{short(mark)}</text>')
    return "".join(parts)


def _runs(points: Sequence[tuple[float, float | None]]) -> list[list[tuple[float, float]]]:
    """Return the stretches without a missing value."""
    found: list[list[tuple[float, float]]] = [[]]
    for t, value in points:
        if value is None:
            found.append([])
        else:
            found[-1].append((t, value))
    return [run for run in found if run]


def _figure(title: str, unit: str, content: str, keys: str, width: int = WIDTH) -> str:
    label = escape(f"{title}, {unit}")
    return (
        f"<figure><figcaption>{escape(title)} <small>{escape(unit)}</small>{keys}</figcaption>"
        f'<svg viewBox="0 0 {width} {HEIGHT}" role="img" aria-label="{label}">{content}</svg></figure>'
    )
