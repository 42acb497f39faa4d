"""The version whose behaviour is shown (component-base `compatibility`, apimachinery `version`)."""

from __future__ import annotations

import re

from hydrofoil.apis.releases.data import minors
from hydrofoil.go_text import quote
from hydrofoil.options import Refused, Texts, words

VERSION = re.compile(r"v?(\d{1,9})\.(\d{1,9})(\.\d{1,9})?")


def parse_emulated_version(text: str) -> Texts:
    """Read `1.35` or `kube=1.35`."""
    found = words(text)
    for word in found:
        component, equals, version = word.rpartition("=")
        if equals and component != "kube":
            raise Refused(f"component not registered: {component}")
        match = VERSION.fullmatch(version)
        if match is None:
            raise Refused(f"could not parse {quote(version)} as version")
        if match[3]:
            raise Refused(f"patch version not allowed, got: kube={version}")
    return found


def minor_of(given: Texts) -> int:
    """Return the minor version to emulate. Raise ValueError for one that is out of range."""
    oldest, newest = minors()[0], minors()[-1]
    if not given:
        return newest
    version = given[-1].rpartition("=")[2].removeprefix("v")
    major, _, minor = version.partition(".")
    number = int(minor)
    if int(major) == 1 and oldest <= number <= newest:
        return number
    found = [f"emulation version {version} is not between [1.{oldest}, 1.{newest}.0]"]
    if int(major) < 1 or number < oldest:
        found.append(f"minCompatibilityVersion version 1.{oldest} is not between [1.{oldest}, {version}]")
    raise ValueError(found[0] if len(found) == 1 else f"[{', '.join(found)}]")


def minor_of_introduction(lifecycle: dict[str, str]) -> int:
    """Return the minor version in which a resource's version appeared."""
    return int(lifecycle.get("introduced", "1.0").partition(".")[2] or 0)
