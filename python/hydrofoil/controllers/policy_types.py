"""Type checking of policies (apiserver `pkg/admission/plugin/policy/validating/typechecking.go`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from hydrofoil.apis.catalog import Catalog
from hydrofoil.engine import Declaration, Document
from hydrofoil.openapi import packed

MOST = 10
"""The number of kinds of one rule after which no further one is looked for (`maxTypesToCheck`)."""
SHARED = "apis/apps/v1"
"""A document that has the schema of metadata."""
Object = dict[str, Any]


class Kind(NamedTuple):
    """Group, version and kind; as kube-apiserver prints it."""

    group: str
    version: str
    kind: str

    def __str__(self) -> str:
        return f"{self.group}/{self.version}, Kind={self.kind}"

    @property
    def path(self) -> str:
        """Return the path of the OpenAPI document below `/openapi/v3`."""
        return f"apis/{self.group}/{self.version}" if self.group else f"api/{self.version}"


class Known(NamedTuple):
    """A kind whose type is known: built-in without a definition, else the JSON of its definition."""

    kind: Kind
    definition: bytes | None = None


def covered(catalog: Catalog, spec: Object) -> list[Kind]:
    """Return the kinds that the rules of a policy name, in order; rules with wildcards name none."""
    found: set[Kind] = set()
    for rule in (spec.get("matchConstraints") or {}).get("resourceRules") or ():
        groups, versions = rule.get("apiGroups") or (), rule.get("apiVersions") or ()
        plurals = sorted(p for p in rule.get("resources") or () if not {"*", "/"} & set(p))
        if any("*" in text for text in (*groups, *versions)):
            continue
        count = 0
        for group in sorted(groups):
            for version in sorted(versions):
                for plural in plurals:
                    for kind in resolved(catalog, group, version, plural.lower()):
                        found.add(kind)
                        count += 1
                        if count == MOST:
                            return sorted(found)
    return sorted(found)


def resolved(catalog: Catalog, group: str, version: str, name: str) -> list[Kind]:
    """Return the kinds of resources by their plural or singular name (apimachinery `pkg/api/meta/restmapper.go`).

    Without a group it is that of any group, as upstream's mapper has it.
    """
    groups = [group] if group else sorted(catalog.groups)
    found = []
    for each in groups:
        for resource in catalog.groups.get(each, {}).get(version, {}).values():
            if name in (resource.plural, resource.singular):
                found.append(Kind(each, version, resource.kind))
                break
    return found


class Check:
    """The check of one policy, done off the loop."""

    def __init__(self, spec: Object, objects: Iterable[Known], params: Known | None, number: int) -> None:
        """Take `number` as part of the names of types, which differ in each check."""
        self._spec = spec
        self._objects = list(objects)
        self._params = params
        self._number = number
        self._documents: dict[str, Document | None] = {}

    def warnings(self) -> list[dict[str, str]]:
        """Return the warnings of all expressions, as they are in the status of a policy."""
        validations: Sequence[Object] = self._spec.get("validations") or ()
        named = [(v["name"], v["expression"]) for v in self._spec.get("variables") or ()]
        fields, texts = [], []
        for index, validation in enumerate(validations):
            for member in ("expression", "messageExpression"):
                if text := validation.get(member):
                    fields.append(f"spec.validations[{index}].{member}")
                    texts.append(text)
        params = self._declared(self._params) if self._params else None
        messages: list[list[str]] = [[] for _ in texts]
        for known in self._objects:
            declared = self._declared(known)
            if declared is None:
                continue
            for found, issues in zip(messages, declared.issues(params, named, texts), strict=True):
                if issues is not None:
                    found.append(f"{known.kind}: {issues}\n")
        pairs = zip(fields, messages, strict=True)
        return [{"fieldRef": field, "warning": "\n".join(lines)} for field, lines in pairs if lines]

    def _declared(self, known: Known) -> Declaration | None:
        """Return the type of a kind; None if no schema of it is published."""
        kind, definition = known
        name = f"{kind.kind}{self._number}"
        document = self._document(kind.path if definition is None else SHARED)
        if document is None:
            return None
        if definition is not None:
            return Declaration.defined(Document(definition), kind.version, document, name)
        return Declaration.published(document, *kind, name)

    def _document(self, path: str) -> Document | None:
        if path not in self._documents:
            data = packed.undescribed(path)
            self._documents[path] = None if data is None else Document(data)
        return self._documents[path]
