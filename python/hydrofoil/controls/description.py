"""The OpenAPI document of the controls."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]
TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "integer"}
ANY: Schema = {"type": "object", "additionalProperties": True}


def members(**given: Schema) -> Schema:
    """Return the schema of an object."""
    return {"type": "object", "properties": given}


def items(schema: Schema) -> Schema:
    """Return the schema of a list."""
    return members(items={"type": "array", "items": schema}, dropped=NUMBER)


CLOCK = members(now={"type": "string", "format": "date-time"}, frozen={"type": "boolean"})
SNAPSHOT = members(id=TEXT, resourceVersion=TEXT)
CHANGED = members(changed=NUMBER, resourceVersion=TEXT)
FAULT = {**members(id=TEXT, action=TEXT, seen=NUMBER, hits=NUMBER, text=TEXT), "additionalProperties": True}
WAIT = members(object=TEXT, namespace=TEXT, condition=TEXT, timeout={"oneOf": [TEXT, {"type": "number"}]})
STATUS = members(object=TEXT, namespace=TEXT, status=ANY)
USER = members(name=TEXT, groups={"type": "array", "items": TEXT})
CALLS: tuple[tuple[str, str, str, str, Schema | None, Schema], ...] = (
    ("get", "/openapi.json", "200", "Return this document.", None, ANY),
    ("post", "/reset", "200", "Return to the state at readiness.", None, CHANGED),
    ("post", "/restart", "200", "Break all other connections, and end the history.", None, ANY),
    ("post", "/compact", "200", "End the history.", None, ANY),
    ("get", "/snapshots", "200", "Return the snapshots that are kept.", None, items(SNAPSHOT)),
    ("post", "/snapshots", "201", "Take a snapshot.", None, SNAPSHOT),
    ("get", "/snapshots/{id}", "200", "Return a snapshot as a file.", None, {"type": "string", "format": "binary"}),
    ("put", "/snapshots/{id}", "201", "Keep the snapshot of a file.", {"type": "string", "format": "binary"}, SNAPSHOT),
    ("delete", "/snapshots/{id}", "200", "Forget a snapshot.", None, ANY),
    ("post", "/snapshots/{id}/restore", "200", "Return to a snapshot.", None, CHANGED),
    ("get", "/clock", "200", "Return the time.", None, CLOCK),
    ("put", "/clock", "200", "Stop the clock, at a moment or now, or let it run.", CLOCK, CLOCK),
    ("post", "/clock/advance", "200", "Move the clock forward.", members(duration=TEXT), CLOCK),
    ("get", "/faults", "200", "Return the faults.", None, items(FAULT)),
    ("post", "/faults", "201", "Add a fault: action, match and parameters.", ANY, FAULT),
    ("delete", "/faults", "200", "Remove all faults.", None, ANY),
    ("get", "/faults/{id}", "200", "Return a fault with its counts.", None, FAULT),
    ("delete", "/faults/{id}", "200", "Remove a fault.", None, FAULT),
    ("get", "/requests", "200", "Return the requests; parameters select them.", None, items(ANY)),
    ("delete", "/requests", "200", "Forget the requests.", None, ANY),
    ("get", "/watches", "200", "Return the open watches.", None, items(ANY)),
    (
        "post",
        "/apply",
        "200",
        "Apply objects in YAML or JSON; `status=true`: their status, too; `origin` names them in errors.",
        ANY,
        items(ANY),
    ),
    ("post", "/wait", "200", "Return an object once it is as a condition says.", WAIT, ANY),
    ("get", "/object", "200", "Return an object; `object` is such as `deployments.apps/web`, `namespace`.", None, ANY),
    (
        "get",
        "/why",
        "200",
        "Return why an object is not ready, the most likely cause first; `object` and `namespace`.",
        None,
        members(lines={"type": "array", "items": TEXT}),
    ),
    ("put", "/status", "200", "Set members of the status of an object, as its controller would.", STATUS, ANY),
    ("post", "/users", "200", "Return the credentials of a user.", USER, members(headers=ANY, kubeconfig=ANY)),
)


def document() -> Schema:
    """Return the document."""
    paths: dict[str, dict[str, Any]] = {}
    for method, path, code, summary, body, answer in CALLS:
        media = "application/octet-stream" if answer.get("format") == "binary" else "application/json"
        call: dict[str, Any] = {
            "summary": summary,
            "operationId": f"{method}{''.join(p.strip('{}').capitalize() for p in path.replace('.', '/').split('/'))}",
            "responses": {
                code: {"description": "Done.", "content": {media: {"schema": answer}}},
                "default": {"description": "A Status.", "content": {"application/json": {"schema": ANY}}},
            },
        }
        if "{id}" in path:
            call["parameters"] = [{"name": "id", "in": "path", "required": True, "schema": TEXT}]
        if body is not None:
            sent = "application/octet-stream" if body.get("format") == "binary" else "application/json"
            call["requestBody"] = {"content": {sent: {"schema": body}}}
        paths.setdefault(f"/hydrofoil/v1{path}", {})[method] = call
    return {"openapi": "3.0.3", "info": {"title": "Hydrofoil test controls", "version": "v1"}, "paths": paths}
