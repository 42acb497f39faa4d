"""Type checking of policies (apiserver `pkg/admission/plugin/policy/validating/typechecking.go`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from hydrofoil.apis.catalog import Resource
from hydrofoil.engine import Declaration, Document
from hydrofoil.openapi import packed

MOST = 10
"""The number of kinds of one rule after which no further one is looked for (`maxTypesToCheck`)."""
LARGEST = 3 << 20
"""The most bytes of all warnings: kube-apiserver takes no larger request."""
SHARED = "apis/apps/v1"
"""A document that has the schema of metadata."""
Object = dict[str, Any]


class Named(NamedTuple):
    """The names of a resource that another server serves."""

    plural: str
    singular: str
    kind: str


Groups = Mapping[str, Mapping[str, Mapping[str, Resource | Named]]]
"""The served resources by group, version and plural."""


def served_resources(local: Groups, remote: Iterable[tuple[str, str, list[Object]]]) -> Groups:
    """Return the resources of this server and of others, each by the discovery document of its group version."""
    found = {group: dict(versions) for group, versions in local.items()}
    for group, version, reported in remote:
        resources = found.setdefault(group, {})[version] = {}
        for r in reported:
            kind = (r.get("responseKind") or {}).get("kind", "")
            resources[r["resource"]] = Named(r["resource"], r.get("singularResource", ""), kind)
    return found


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
    """A kind whose type is known: built-in, or by the JSON of its definition or of its service's OpenAPI document."""

    kind: Kind
    definition: bytes | None = None
    published: bytes | None = None


class Wanted(NamedTuple):
    """A policy to be checked, and the kinds whose types it needs."""

    generation: int
    spec: Object
    kinds: list[Kind]
    params: Kind | None


def needs_of_policy(data: bytes, groups: Groups) -> Wanted | None:
    """Return what the check of a policy needs; None if its generation has been checked. `groups`: those served."""
    policy = orjson.loads(data)
    generation = policy["metadata"]["generation"]
    if generation <= policy.get("status", {}).get("observedGeneration", 0):
        return None
    spec: Object = policy["spec"]
    named = spec.get("paramKind") or {}
    group, _, version = named.get("apiVersion", "").rpartition("/")
    params = Kind(group, version, named.get("kind", "")) if named else None
    return Wanted(generation, spec, kinds_of_rules(groups, spec), params)


def kinds_of_rules(groups: Groups, spec: Object) -> list[Kind]:
    """Return the kinds that the rules of a policy name, in order; rules with wildcards name none.

    Rules may list many names, so those that are served are looked through, never all combinations.
    """
    found: set[Kind] = set()
    for rule in (spec.get("matchConstraints") or {}).get("resourceRules") or ():
        names = {p.lower() for p in rule.get("resources") or () if "*" not in p and "/" not in p}
        listed, versions = set(rule.get("apiGroups") or ()), set(rule.get("apiVersions") or ())
        if any("*" in text for text in (*listed, *versions)):
            continue
        for count, kind in enumerate(kinds_of_names(groups, listed, versions, names), 1):
            found.add(kind)
            if count == MOST:
                return sorted(found)
    return sorted(found)


def kinds_of_names(groups: Groups, listed: set[str], versions: set[str], names: set[str]) -> Iterator[Kind]:
    """Yield the kinds of resources by plural or singular names (apimachinery `pkg/api/meta/restmapper.go`).

    The core group stands for all groups, as upstream's mapper has it.
    """
    if "" in listed:
        everywhere = {version for served in groups.values() for version in served} & versions
        for version in sorted(everywhere):
            yield from _kinds_of_version(groups, sorted(groups), version, names)
    for group in sorted(listed & groups.keys() - {""}):
        for version in sorted(versions & groups[group].keys()):
            yield from _kinds_of_version(groups, [group], version, names)


def _kinds_of_version(groups: Groups, within: list[str], version: str, names: set[str]) -> list[Kind]:
    """Return the kinds of one version in some groups, in the order of their names."""
    found = []
    for group in within:
        for resource in groups[group].get(version, {}).values():
            matched = names & {resource.plural, resource.singular}
            found += [(name, Kind(group, version, resource.kind)) for name in matched]
    return [kind for _, kind in sorted(found)]


class Check:
    """The check of one policy, done off the loop."""

    def __init__(self, spec: Object, objects: Iterable[Known], params: Known | None, number: int) -> None:
        """Take `number` as part of the names of types, which differ in each check."""
        self._spec = spec
        self._objects = list(objects)
        self._params = params
        self._number = number
        self._documents: dict[str, Document | None] = {}

    def warnings(self) -> list[dict[str, str]] | None:
        """Return the warnings of all expressions, as they are in the status of a policy; None if they are too large."""
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
        left = LARGEST
        for known in self._objects:
            declared = self._declared(known)
            if declared is None:
                continue
            listed = declared.issues(params, named, texts, left)
            if listed is None:
                return None
            for found, issues in zip(messages, listed, strict=True):
                if issues is not None:
                    found.append(f"{known.kind}: {issues}\n")
                    left = max(0, left - len(issues))
        pairs = zip(fields, messages, strict=True)
        return [{"fieldRef": field, "warning": "\n".join(lines)} for field, lines in pairs if lines]

    def _declared(self, known: Known) -> Declaration | None:
        """Return the type of a kind; None if no schema of it is published."""
        kind, definition, published = known
        name = f"{kind.kind}{self._number}"
        if published is not None:
            return Declaration.published(Document(published), *kind, name)
        document = self._document(kind.path if definition is None else SHARED)
        if document is None:
            return None
        if definition is not None:
            return Declaration.defined(Document(definition), kind.version, document, name)
        return Declaration.published(document, *kind, name)

    def _document(self, path: str) -> Document | None:
        if path not in self._documents:
            data = packed.without_descriptions(path)
            self._documents[path] = None if data is None else Document(data)
        return self._documents[path]
