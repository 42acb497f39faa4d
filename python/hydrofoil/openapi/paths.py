"""Operations of custom resources as OpenAPI publishes them (`pkg/controller/openapi/builder` of upstream)."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from hydrofoil.apis.catalog import Resource
from hydrofoil.openapi import descriptions
from hydrofoil.openapi.schema import META, model_name, reference

SCALE = "io.k8s.api.autoscaling.v1.Scale"
PATCHES = ("application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml")
MEDIA = ("application/json", "application/yaml")
SELECT = (
    ("continue", "string"),
    ("fieldSelector", "string"),
    ("labelSelector", "string"),
    ("limit", "integer"),
    ("resourceVersion", "string"),
    ("resourceVersionMatch", "string"),
    ("sendInitialEvents", "boolean"),
    ("shardSelector", "string"),
    ("timeoutSeconds", "integer"),
    ("watch", "boolean"),
)
WRITE = (("dryRun", "string"), ("fieldManager", "string"), ("fieldValidation", "string"))
QUERY = {
    "list": (("allowWatchBookmarks", "boolean"), *SELECT),
    "deletecollection": (("allowWatchBookmarks", "boolean"), *SELECT),
    "get": (("resourceVersion", "string"),),
    "post": WRITE,
    "put": WRITE,
    "patch": (*WRITE, ("force", "boolean")),
    "delete": (
        ("dryRun", "string"),
        ("gracePeriodSeconds", "integer"),
        ("ignoreStoreReadErrorWithClusterBreakingPotential", "boolean"),
        ("orphanDependents", "boolean"),
        ("propagationPolicy", "string"),
    ),
}
"""The parameters of each action, by name."""
SHARED = {
    "allowWatchBookmarks": "HC2hJt-J",
    "continue": "QfD61s0i",
    "fieldManager": "Qy4HdaTW",
    "fieldSelector": "xIcQKXFG",
    "force": "tOGGb0Yi",
    "gracePeriodSeconds": "-K5HaBOS",
    "ignoreStoreReadErrorWithClusterBreakingPotential": "QbNkfIqj",
    "labelSelector": "5Zw57w4C",
    "limit": "1NfNmdNH",
    "namespace": "vgWSWtn3",
    "orphanDependents": "uRB25kX5",
    "pretty": "tJGM1-ng",
    "propagationPolicy": "6jk3prlO",
    "resourceVersion": "5WAnf1kx",
    "resourceVersionMatch": "t8XhRHeC",
    "sendInitialEvents": "rLXlEK_k",
    "shardSelector": "Kgyki_3_",
    "timeoutSeconds": "yvYezaOC",
    "watch": "XNNPZGbK",
}
"""The parameters that OpenAPI v2 has once for all operations, and the end of their keys there: a hash of their text
(kube-openapi `pkg/builder/parameters.go`). `dryRun` and `fieldValidation` are not among them, for old kubectls."""
SHARED_PATCH = {"fieldManager": "7c6nTn1T"}
SHARED_BODIES = {f"{META}.DeleteOptions": "body-2Y1dVQaQ", f"{META}.Patch": "body-78PwaGsr"}
PRETTY = (
    "If 'true', then the output is pretty printed. Defaults to 'false' unless the user-agent indicates a browser or "
    "command-line HTTP tool (curl and wget)."
)
NAMESPACE = "object name and auth scope, such as for teams and projects"
ANSWERS = {200: "OK", 201: "Created", 202: "Accepted", 401: "Unauthorized"}
CODES = {"post": (200, 201, 202), "put": (200, 201), "delete": (200, 202)}
WORDS = {"post": "create", "put": "replace", "get": "read", "patch": "patch", "delete": "delete"}
Document = dict[str, Any]


class Writer(Struct):
    """A writer of the paths of one resource in one version of OpenAPI."""

    resource: Resource
    v2: bool

    def paths(self) -> Document:
        """Return every path of the resource."""
        r = self.resource
        root = f"/apis/{r.group}/{r.version}"
        own, many = model_name(r.group, r.version, r.kind), model_name(r.group, r.version, r.list_kind)
        within, inside = (f"{root}/namespaces/{{namespace}}", "Namespaced") if r.namespaced else (root, "")
        out: Document = {}
        if r.namespaced:
            every = self._operation("list", "list", many, "", "ForAllNamespaces")
            # Parameters that all operations of a path share are those of the path: of a single one, that is all.
            shared = [*every.pop("parameters"), *self._path()]
            out[f"{root}/{r.plural}"] = {"get": every, "parameters": self._sorted(shared)}
        collection, item = f"{within}/{r.plural}", f"{within}/{r.plural}/{{name}}"
        scoped = ("namespace",) if r.namespaced else ()
        out[collection] = {
            "get": self._operation("list", "list", many, inside),
            "post": self._operation("post", "create", own, inside, body=own),
            "delete": self._operation("deletecollection", "delete", f"{META}.Status", f"Collection{inside}"),
            "parameters": self._path(*scoped),
        }
        out[item] = self._item(own, inside, "") | {
            "delete": self._operation("delete", "delete", f"{META}.Status", inside, body=f"{META}.DeleteOptions"),
            "parameters": self._path("name", *scoped),
        }
        for name in r.subresources:
            shown = SCALE if name == "scale" else own
            parameters = self._path("name", *scoped)
            out[f"{item}/{name}"] = self._item(shown, inside, name) | {"parameters": parameters}
        return out

    def _item(self, shown: str, inside: str, subresource: str) -> Document:
        return {
            action: self._operation(action, WORDS[action], shown, inside, subresource.title(), subresource, body=body)
            for action, body in (("get", ""), ("put", shown), ("patch", f"{META}.Patch"))
        }

    def _operation(
        self, action: str, word: str, shown: str, inside: str, after: str = "", subresource: str = "", *, body: str = ""
    ) -> Document:
        r = self.resource
        # Upstream's own groups are known without their end.
        group = r.group.removesuffix(".k8s.io")
        version = operation_id(r.version, capital=False)
        schema = reference(shown, v2=self.v2)
        taken = PATCHES if action == "patch" else MEDIA
        out: Document = {
            "operationId": word
            + operation_id(group, capital=True)
            + operation_id(r.version, capital=True)
            + operation_id(f"{inside}{r.kind}{after}", capital=True),
            "parameters": [self._query(*given, patch=action == "patch") for given in QUERY[action]],
            "responses": {str(code): self._answer(code, schema) for code in (*CODES.get(action, (200,)), 401)},
            "tags": [f"{operation_id(group, capital=False)}_{version}"],
            "x-kubernetes-action": action,
            "x-kubernetes-group-version-kind": {"group": r.group, "kind": r.kind, "version": r.version},
        }
        if has_descriptions():
            out["description"] = description(action, r.kind, subresource)
        if self.v2:
            out |= {"consumes": list(taken), "produces": list(MEDIA), "schemes": ["https"]}
        if body:
            required = {"required": True} if action != "delete" else {}
            given = reference(body, v2=self.v2)
            if not self.v2:
                out["requestBody"] = {"content": {media: {"schema": given} for media in taken}, **required}
            elif body in SHARED_BODIES:
                out["parameters"].insert(0, {"$ref": f"#/parameters/{SHARED_BODIES[body]}"})
            else:
                out["parameters"].insert(0, {"in": "body", "name": "body", "schema": given, **required})
        return out

    def _answer(self, code: int, schema: Document) -> Document:
        out: Document = {"description": ANSWERS[code]} if has_descriptions() else {}
        if code == 401:
            return out
        return out | ({"schema": schema} if self.v2 else {"content": {media: {"schema": schema} for media in MEDIA}})

    def _query(self, name: str, kind: str, *, patch: bool = False) -> Document:
        return self._parameter({"in": "query", "name": name}, kind, PRETTY if name == "pretty" else "", patch=patch)

    def _parameter(self, out: Document, kind: str, text: str, *, patch: bool = False) -> Document:
        name = out["name"]
        end = (SHARED_PATCH if patch and name in SHARED_PATCH else SHARED).get(name)
        if self.v2 and end is not None:
            return {"$ref": f"#/parameters/{name}-{end}"}
        typed = {"type": kind, "uniqueItems": True}
        if text and has_descriptions():
            out["description"] = text
        return out | (typed if self.v2 else {"schema": typed})

    def _path(self, *names: str) -> list[Document]:
        """Return the parameters of a path, sorted by name as all are."""
        texts = {"name": f"name of the {self.resource.kind}", "namespace": NAMESPACE}
        out = [self._parameter({"in": "path", "name": n, "required": True}, "string", texts[n]) for n in names]
        return [*out, self._query("pretty", "string")]

    @staticmethod
    def _sorted(parameters: list[Document]) -> list[Document]:
        return sorted(parameters, key=lambda p: str(p.get("name") or p["$ref"].removeprefix("#/parameters/")))


def has_descriptions() -> bool:
    """Report whether the documents have descriptions."""
    return descriptions.folder() is not None


def description(action: str, kind: str, subresource: str) -> str:
    """Return the description of an operation (`descriptionFor`)."""
    of = f" {subresource} of" if subresource else ""
    match action:
        case "list":
            return f"list objects of kind {kind}"
        case "get" | "put" | "patch":
            word = {"get": "read", "put": "replace", "patch": "partially update"}[action]
            return f"{word}{of} the specified {kind}"
        case "deletecollection":
            return f"delete collection of {kind}"
    # `GetArticleForNoun`: what looks like a plural has no article.
    plural = kind.endswith("s") and not kind.endswith("ss")
    article = " " if plural else " an " if kind[:1].lower() in "aeiou" else " a "
    return f"{WORDS[action]}{of}{article}{kind}"


def operation_id(text: str, *, capital: bool) -> str:
    """Return a text as a part of an operation's id (apiserver `endpoints/openapi/openapi.go`, `ToValidOperationID`).

    `capital`: whether its first letter is a capital one.
    """
    out = ""
    for place, letter in enumerate(text):
        if letter.isalpha() or letter == "_" or (place and letter.isdigit()):
            out += letter.upper() if capital else letter
            capital = False
        else:
            capital = True
    return out
