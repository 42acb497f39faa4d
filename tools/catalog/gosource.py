"""Types and constants of one Go package, read from its source text."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

Imports = dict[str, str]

GENERATED = {
    "generated.pb.go",
    "generated.protomessage.pb.go",
    "types_swagger_doc_generated.go",
}
TAG = re.compile(r'(\w+):"((?:[^"\\]|\\.)*)"')
EXPRESSION = r"(?:\*|\[\]|map\[[^\]]+\])*[\w.]+"
FIELD = re.compile(rf"^(?:(\w+)\s+)?({EXPRESSION})\s*(?:`([^`]*)`)?\s*(?://.*)?$")
STRUCT = re.compile(r"type (\w+) struct \{$")
EMPTY_STRUCT = re.compile(r"type (\w+) struct ?\{\s*\}$")
ALIAS = re.compile(r"type (\w+) = ([\w.]+)$")
NAMED = re.compile(rf"type (\w+) ({EXPRESSION})(?:\s*//.*)?$")
CONST = re.compile(r"const (\w+) (\w+) = (.+)$")
# Inside a block: `Name Type = value` or `Name = Type(value)`.
BLOCK_CONST = (
    re.compile(r"(\w+)\s+(\w+)\s*=\s*(.+)$"),
    re.compile(r"(\w+)\s*=\s*(\w+)\((.+)\)$"),
)
GROUP_NAME = re.compile(r'GroupName\s*=\s*"([^"]*)"')


@dataclass(frozen=True)
class GoField:
    name: str
    type: str
    embedded: bool
    tags: dict[str, str]
    markers: list[str]

    @property
    def json(self) -> list[str]:
        return self.tags.get("json", "").split(",")

    @property
    def proto_number(self) -> int | None:
        parts = self.tags.get("protobuf", "").split(",")
        return int(parts[1]) if len(parts) > 1 and parts[1].isdigit() else None

    @property
    def inline(self) -> bool:
        return self.embedded and self.json[0] == ""

    def marked(self, key: str) -> list[str]:
        """Values of the markers `+key=value`."""
        start = f"+{key}="
        return [marker[len(start) :] for marker in self.markers if marker.startswith(start)]


@dataclass(frozen=True)
class GoStruct:
    fields: list[GoField]
    imports: Imports


@dataclass(frozen=True)
class GoNamed:
    """A named type that is no struct."""

    underlying: str
    markers: list[str]
    imports: Imports


@dataclass
class GoPackage:
    path: str
    directory: Path
    # The prefix that OpenAPI puts before the names of the types.
    prefix: str
    structs: dict[str, GoStruct] = field(default_factory=dict)
    named: dict[str, GoNamed] = field(default_factory=dict)
    aliases: dict[str, tuple[str, Imports]] = field(default_factory=dict)
    constants: dict[str, list[tuple[str, str | int]]] = field(default_factory=lambda: defaultdict(list))
    # Type -> names of constants of other packages that it takes over.
    borrowed: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    @property
    def group(self) -> str | None:
        for file in (self.directory / "register.go", self.directory.parent / "register.go"):
            if file.exists() and (match := GROUP_NAME.search(file.read_text(encoding="utf-8"))):
                return match[1]
        return None

    def name_of(self, type_name: str) -> str:
        return f"{self.prefix}.{type_name}"

    @classmethod
    def read(cls, path: str, directory: Path, prefix: str) -> GoPackage:
        package = cls(path, directory, prefix)
        for file in sorted(directory.glob("*.go")):
            name = file.name
            if name.endswith("_test.go") or name.startswith("zz_generated") or name in GENERATED:
                continue
            Reader(package, file.read_text(encoding="utf-8")).read()
        return package


class Reader:
    """Reads the declarations of one file into its package."""

    def __init__(self, package: GoPackage, text: str) -> None:
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
        self.package = package
        self.imports = dict(imports(text))
        self.lines = iter(text.split("\n"))

    def read(self) -> None:
        # Markers are in the two comment blocks closest above a declaration.
        earlier: list[str] = []
        block: list[str] = []
        for line in self.lines:
            text = line.strip()
            if text.startswith("//"):
                block.append(text[2:].strip())
            elif not text:
                if block:
                    earlier, block = block, []
            else:
                markers = [item for item in earlier + block if item.startswith("+")]
                self.declaration(text, markers)
                earlier, block = [], []

    def declaration(self, text: str, markers: list[str]) -> None:
        package = self.package
        if match := STRUCT.match(text):
            package.structs[match[1]] = GoStruct(list(self.fields()), self.imports)
        elif match := EMPTY_STRUCT.match(text):
            package.structs[match[1]] = GoStruct([], self.imports)
        elif match := ALIAS.match(text):
            package.aliases[match[1]] = (match[2], self.imports)
        elif match := NAMED.match(text):
            package.named[match[1]] = GoNamed(match[2], markers, self.imports)
        elif text == "const (":
            self.constants()
        elif match := CONST.match(text):
            self.constant(*match.groups())

    def fields(self) -> Iterator[GoField]:
        comments: list[str] = []
        for line in self.lines:
            text = line.strip()
            if line.startswith("}"):
                return
            if text.startswith("//"):
                comments.append(text[2:].strip())
            elif text:
                match = FIELD.match(text)
                # A field without a tag counts only when it is embedded.
                if match and (match[3] or match[1] is None):
                    yield GoField(
                        name=match[1] or match[2].lstrip("*").split(".")[-1],
                        type=match[2],
                        embedded=match[1] is None,
                        tags=dict(TAG.findall(match[3] or "")),
                        markers=[item for item in comments if item.startswith("+")],
                    )
                comments = []

    def constants(self) -> None:
        for line in self.lines:
            text = line.strip()
            if text == ")":
                return
            for pattern in BLOCK_CONST:
                if not text.startswith("//") and (match := pattern.match(text)):
                    self.constant(*match.groups())
                    break

    def constant(self, name: str, type_name: str, value: str) -> None:
        value = value.partition(" //")[0].strip()
        if value.startswith('"') and value.endswith('"'):
            self.package.constants[type_name].append((name, json.loads(value)))
        elif re.match(r"-?\d+$", value):
            self.package.constants[type_name].append((name, int(value)))
        elif match := re.match(r"\w+\.(\w+)$", value):
            self.package.borrowed[type_name].append(match[1])


def imports(text: str) -> Iterator[tuple[str, str]]:
    """Local name and path of every imported package."""
    blocks = re.findall(r"^import\s+\(\n(.*?)^\)", text, re.DOTALL | re.MULTILINE)
    found = [pair for block in blocks for pair in re.findall(r'^\s*(\w+)?\s*"([^"]+)"', block, re.MULTILINE)]
    found += re.findall(r'^import\s+(\w+)?\s*"([^"]+)"', text, re.MULTILINE)
    for name, path in found:
        yield name or path.split("/")[-1], path
