"""Requests for a kubelet. No kubelet exists: each fails with the first obstacle (registry `core/pod/strategy.go`)."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qs

import orjson
from msgspec.structs import replace

from hydrofoil import errors
from hydrofoil.answer import Answer
from hydrofoil.endpoints.context import Context
from hydrofoil.endpoints.params import Params, integer, is_true
from hydrofoil.endpoints.subresources import simulated
from hydrofoil.endpoints.subresources.admitted import admission_of_subresource
from hydrofoil.errors import Cause
from hydrofoil.go_text import quote
from hydrofoil.request import RequestInfo, decide

NO_ADDRESS = "no preferred addresses found; known addresses: []"
KINDS = ("containers", "initContainers", "ephemeralContainers")

UPGRADED = frozenset(("attach", "exec", "portforward"))


async def reach(context: Context) -> Answer:
    """Answer logs, commands, ports and proxies. Raise ApiError 400, 404, 500 and 503."""
    resource, info = context.resource, context.info
    if context.params.get("dryRun"):
        raise errors.bad_request("dryRun is not supported")
    if info.subresource in UPGRADED and info.verb != "create" and context.parts.upgrades_create:
        await check_create(context)
    if info.subresource != "log":
        await connect(context)
    name, port = target(resource.plural, info.name) if info.subresource == "proxy" else (info.name, "")
    if resource.plural == "services":
        raise no_endpoints(context, name, port)
    found = orjson.loads(context.registry.get(resource, info.namespace, name).json)
    if resource.plural == "nodes":
        raise unreachable(found)
    if info.subresource == "proxy":
        raise errors.bad_request("address not allowed")
    spec = found.get("spec", {})
    if info.subresource == "log" and (causes := log_causes(context.params)):
        raise errors.invalid("", "PodLogOptions", info.name, causes)
    if info.subresource != "portforward":
        check_container(info.name, spec, context.params.get("container", ""))
    node = spec.get("nodeName")
    if not node:
        if info.subresource == "log":
            return Answer(204, context.common)
        raise errors.bad_request(f"pod {info.name} does not have a host assigned")
    nodes = context.registry.catalog.find("", "v1", "nodes")
    stored = nodes and context.registry.collection(nodes).get(nodes.native, "", node)
    if not stored:
        # As upstream, which looks up the node on behalf of the pods.
        raise errors.not_found("", "pods", node)
    host = orjson.loads(stored.json)
    if simulated.is_simulated(host):
        return simulated.answer(context, host, found)
    raise unreachable(host)


def target(plural: str, name: str) -> tuple[str, str]:
    """Return the name and the port of `name`, `name:port` or `scheme:name:port`. Raise ApiError 400.

    The source is apimachinery `pkg/util/net/port_split.go`.
    """
    parts = name.split(":")
    scheme, name_, port = ("", *parts, "")[:3] if len(parts) < 3 else (*parts, "")[:3]
    if len(parts) > 3 or not name_ or scheme not in ("", "http", "https"):
        raise errors.bad_request(f"invalid {plural.removesuffix('s')} request {quote(name)}")
    return name_, port


def no_endpoints(context: Context, name: str, port: str) -> errors.ApiError:
    """Return the error of a proxy of a service (`core/service/storage`): no address of its endpoints is reachable."""
    registry, info = context.registry, context.info
    if re.fullmatch(r"[+-]?[0-9]+", port):
        found = orjson.loads(registry.get(context.resource, info.namespace, name).json)
        if all(each["port"] != int(port) for each in found["spec"].get("ports", ())):
            text = f"no service port {int(port)} found for service {quote(name)}"
            return errors.ApiError(503, "ServiceUnavailable", text)
    endpoints = registry.catalog.find("", "v1", "endpoints")
    stored = endpoints and registry.collection(endpoints).get(endpoints.native, info.namespace, name)
    if not stored:
        return errors.not_found("", "services", name)
    shown = info.name if orjson.loads(stored.json).get("subsets") else name
    text = f"no endpoints available for service {quote(shown)}"
    return errors.ApiError(503, "ServiceUnavailable", text)


async def connect(context: Context) -> None:
    """Admit a connection with the object of its options (apiserver `handlers/rest.go ConnectResource`)."""
    info, resource = context.info, context.resource
    sub = resource.subresources[info.subresource]
    kind = context.registry.catalog.kind("", "v1", sub.kind, sub.type_name)
    options, _ = kind.decode(orjson.dumps(connection(info, sub.kind)), "json")
    admission = admission_of_subresource(context, resource, dry_run=False, operation="CONNECT")
    await admission.mutate(options)
    await admission.validate(options)


def connection(info: RequestInfo, kind: str) -> dict[str, Any]:
    """Return the options of a connection as an object (`getRequestOptions`); those that cannot be read are left out."""
    given = parse_qs(info.query, keep_blank_values=True)
    found: dict[str, Any] = {"kind": kind, "apiVersion": "v1"}
    if kind.endswith("ProxyOptions"):
        end = "/" if info.rest and info.path.endswith("/") else ""
        found["path"] = "/" + "/".join(info.rest) + end if info.rest else ""
        return found
    if kind == "PodPortForwardOptions":
        ports = [text for each in given.get("ports", ()) for text in each.split(",")]
        found["ports"] = [int(text) for text in ports if text.isascii() and text.isdigit()]
        return found
    for name in ("stdin", "stdout", "stderr", "tty"):
        if name in given:
            found[name] = is_true(given[name][0])
    if given.get("container"):
        found["container"] = given["container"][0]
    if "command" in given and kind == "PodExecOptions":
        found["command"] = given["command"]
    return found


async def check_create(context: Context) -> None:
    """Check that a WebSocket, which is a GET, has the right of the POST that it stands for. Raise ApiError 403.

    The source is registry `core/pod/rest/authorize.go`.
    """
    info = context.info
    verdict = await decide(context.authorizer, context.user, replace(info, verb="create"))
    if not verdict.allowed and verdict.error:
        raise errors.ApiError(500, "", verdict.error)
    if not verdict.allowed:
        raise errors.forbidden(info.group, info.resource, info.name, verdict.reason)


def unreachable(node: dict[str, Any]) -> errors.ApiError:
    """Return the error of a connection with a node."""
    if not node.get("status", {}).get("addresses"):
        return errors.ApiError(500, "", NO_ADDRESS)
    return errors.ApiError(500, "InternalError", "Internal error occurred: no node answers for its pods here")


def log_causes(params: Params) -> list[Cause]:
    """Check the options of a log (`ValidatePodLogOptions`). Raise ApiError 400."""
    causes: list[Cause] = []
    for name, least in (("tailLines", 0), ("limitBytes", 1), ("sinceSeconds", 1)):
        given = integer(params, name)
        if name == "sinceSeconds" and given is not None and "sinceTime" in params:
            text = "Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified"
            causes.append(("FieldValueForbidden", text, "[]"))
        elif given is not None and given < least:
            what = "greater than 0" if least else "greater than or equal to 0"
            causes.append(("FieldValueInvalid", f"Invalid value: {given}: must be {what}", name))
    if "stream" in params:
        # Behind a gate that is off.
        causes.append(("FieldValueForbidden", "Forbidden: may not be specified", "stream"))
    return causes


def check_container(pod: str, spec: dict[str, Any], name: str) -> None:
    """Check that the selected container exists, and that one is selected if there are several. Raise ApiError 400."""
    names = [[c["name"] for c in spec.get(kind, ())] for kind in KINDS]
    if name:
        if not any(name in some for some in names):
            raise errors.bad_request(f"container {name} is not valid for pod {pod}")
        return
    if len(names[0]) > 1:
        text = f"a container name must be specified for pod {pod}, choose one of: [{' '.join(names[0])}]"
        if names[1]:
            text += f" or one of the init containers: [{' '.join(names[1])}]"
        raise errors.bad_request(text)
