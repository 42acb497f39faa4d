"""Operations of custom resources as OpenAPI publishes them (`pkg/controller/openapi/builder` of upstream)."""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct

from hydrofoil.apis.catalog import Resource
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
"""The parameters of each action."""
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
            out[f"{root}/{r.plural}"] = {
                "get": self._operation("list", "list", many, "", "ForAllNamespaces"),
                "parameters": self._path(),
            }
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
            out[f"{item}/{name}"] = self._item(shown, inside, name.title()) | {"parameters": parameters}
        return out

    def _item(self, shown: str, inside: str, after: str) -> Document:
        return {
            action: self._operation(action, WORDS[action], shown, inside, after, body=body)
            for action, body in (("get", ""), ("put", shown), ("patch", f"{META}.Patch"))
        }

    def _operation(
        self, action: str, word: str, shown: str, inside: str, after: str = "", *, body: str = ""
    ) -> Document:
        r = self.resource
        group = "".join(part.title() for part in re.split(r"[^A-Za-z0-9]", r.group))
        version = r.version[:1].upper() + r.version[1:]
        schema = reference(shown, v2=self.v2)
        taken = PATCHES if action == "patch" else MEDIA
        out: Document = {
            "operationId": f"{word}{group}{version}{inside}{r.kind}{after}",
            "parameters": [self._query(*given) for given in QUERY[action]],
            "responses": {str(code): self._answer(schema) for code in CODES.get(action, (200,))} | {"401": {}},
            "tags": [f"{group[:1].lower()}{group[1:]}_{r.version}"],
            "x-kubernetes-action": action,
            "x-kubernetes-group-version-kind": {"group": r.group, "kind": r.kind, "version": r.version},
        }
        if self.v2:
            out |= {"consumes": list(taken), "produces": list(MEDIA), "schemes": ["https"]}
        if body:
            required = {"required": True} if action != "delete" else {}
            given = reference(body, v2=self.v2)
            if self.v2:
                out["parameters"].append({"in": "body", "name": "body", "schema": given, **required})
            else:
                out["requestBody"] = {"content": {media: {"schema": given} for media in taken}, **required}
        return out

    def _answer(self, schema: Document) -> Document:
        return {"schema": schema} if self.v2 else {"content": {media: {"schema": schema} for media in MEDIA}}

    def _query(self, name: str, kind: str) -> Document:
        typed = {"type": kind, "uniqueItems": True}
        return {"in": "query", "name": name} | (typed if self.v2 else {"schema": typed})

    def _path(self, *names: str) -> list[Document]:
        typed = {"type": "string", "uniqueItems": True}
        form = typed if self.v2 else {"schema": typed}
        out = [{"in": "path", "name": name, "required": True} | form for name in names]
        return [*out, self._query("pretty", "string")]
