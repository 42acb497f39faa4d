"""Printer columns of every kind, from the printers' Go source."""

from __future__ import annotations

import re

from .docs import Descriptions
from .model import Json
from .modules import Modules

# Directory below pkg/apis -> group, where the group is more than the directory's name.
GROUPS = {
    "core": "",
    "admissionregistration": "admissionregistration.k8s.io",
    "apiserverinternal": "internal.apiserver.k8s.io",
    "certificates": "certificates.k8s.io",
    "coordination": "coordination.k8s.io",
    "discovery": "discovery.k8s.io",
    "events": "events.k8s.io",
    "flowcontrol": "flowcontrol.apiserver.k8s.io",
    "networking": "networking.k8s.io",
    "node": "node.k8s.io",
    "rbac": "rbac.authorization.k8s.io",
    "resource": "resource.k8s.io",
    "scheduling": "scheduling.k8s.io",
    "storage": "storage.k8s.io",
    "storagemigration": "storagemigration.k8s.io",
}
SOURCE = "pkg/printers/internalversion/printers.go"
DEFINITIONS = re.compile(r"(\w+) (?:= append\(\1, |:= )\[\]metav1\.TableColumnDefinition\{\n(.*?)\n\t\}", re.DOTALL)
HANDLER = re.compile(r"TableHandler\((\w+), (print\w+)\)")
PRINTER = re.compile(r"^func (print\w+)\(\w+ \*([\w.]+)", re.MULTILINE)
IMPORT = re.compile(r'^\s*(\w+)?\s*"(k8s\.io/[^"]+)"', re.MULTILINE)


def printer_columns(modules: Modules) -> list[Json]:
    source = (modules.kubernetes / SOURCE).read_text(encoding="utf-8")
    imports = {alias or path.split("/")[-1]: path for alias, path in IMPORT.findall(source)}
    roots = {"k8s.io/api/": modules.api, "k8s.io/apimachinery/": modules.apimachinery}
    described = Descriptions(imports, roots)
    start = source.index("func AddHandlers")
    body = source[start : source.index("\nfunc ", start + 1)]
    columns: dict[str, list[Json]] = {}
    for variable, text in DEFINITIONS.findall(body):
        columns.setdefault(variable, []).extend(column(line, described) for line in column_lines(text))
    printed = dict(PRINTER.findall(source))
    found: dict[tuple[str, str], list[Json]] = {}
    for variable, printer in HANDLER.findall(body):
        alias, kind = printed[printer].split(".")
        if not kind.endswith("List"):
            found[group_of(imports[alias]), kind] = columns[variable]
    found.update(elsewhere(found))
    return [{"group": group, "kind": kind, "columns": found[group, kind]} for group, kind in sorted(found)]


def column_lines(text: str) -> list[str]:
    return [line for line in text.split("\n") if 'Name: "' in line]


def column(line: str, described: Descriptions) -> Json:
    def text(key: str, default: str) -> str:
        match = re.search(rf'{key}: "([^"]*)"', line)
        return match[1] if match else default

    priority = re.search(r"Priority: (\d+)", line)
    return {
        "name": text("Name", ""),
        "type": text("Type", "string"),
        "format": text("Format", ""),
        "priority": int(priority[1]) if priority else 0,
        "description": described.of(line),
    }


def group_of(path: str) -> str:
    if "/pkg/apis/" in path and path.startswith("k8s.io/kubernetes"):
        directory = path.split("/pkg/apis/")[1].partition("/")[0]
        return GROUPS.get(directory, directory)
    return "meta" if "apimachinery" in path else path


def elsewhere(found: dict[tuple[str, str], list[Json]]) -> dict[tuple[str, str], list[Json]]:
    """Columns of kinds that other code prints."""
    name, age = found["", "ServiceAccount"][0], found["", "ServiceAccount"][-1]
    plain = [
        ("Service", "The reference to the service that hosts this API endpoint."),
        ("Available", "Whether this service is available."),
    ]
    service = [{"name": n, "type": "string", "format": "", "priority": 0, "description": d} for n, d in plain]
    return {
        # kube-aggregator/pkg/registry/apiservice/etcd: its own table.
        ("apiregistration.k8s.io", "APIService"): [name, *service, age],
        # Stored as, and printed like, the event of the core group.
        ("events.k8s.io", "Event"): found["", "Event"],
    }
