"""Configuration files of a server that point to the helper."""

from __future__ import annotations

import json
from pathlib import Path

from tests.conformance.replay.paths import Object

APISERVER = "apiserver.config.k8s.io/v1"
PATHS = [
    "/version",
    "/livez",
    "/api/v1/namespaces/open/configmaps",
    "/api/v1/namespaces/open/configmaps/shown",
    "/apis/",
]
"""The paths of anonymous requests in the second configuration of authentication."""
WEBHOOKS = ("gate", "picky", "loose", "last", "sole", "hasty", "patient")
"""The webhooks of authorization, each with a path of its own."""


def make(folder: Path, url: str) -> None:
    """Write the configurations of a helper."""
    ca = folder / "helper-ca.crt"
    whole = authentication(url, ca.read_text())
    conditions = [{"path": path} for path in PATHS]
    paths = {**whole, "anonymous": {"enabled": True, "conditions": conditions}, "jwt": []}
    texts = {"authenticate.kubeconfig": kubeconfig(f"{url}/authenticate/one", ca)}
    for name in WEBHOOKS:
        texts[f"authorize-{name}.kubeconfig"] = kubeconfig(f"{url}/authorize/{name}", ca)
    texts["authentication.yaml"] = json.dumps(whole, indent=1)
    texts["authentication-paths.yaml"] = json.dumps(paths, indent=1)
    texts["authorization.yaml"] = json.dumps(authorization(folder), indent=1)
    texts["authorization-brief.yaml"] = json.dumps(authorization(folder, brief=True), indent=1)
    for name, text in texts.items():
        (folder / name).write_text(text)


def kubeconfig(server: str, ca: Path) -> str:
    """Return the kubeconfig of a webhook."""
    cluster = {"name": "helper", "cluster": {"server": server, "certificate-authority": str(ca)}}
    context = {"name": "helper", "context": {"cluster": "helper", "user": "server"}}
    config = {"apiVersion": "v1", "kind": "Config", "clusters": [cluster], "contexts": [context]}
    config |= {"current-context": "helper", "users": [{"name": "server", "user": {}}]}
    return json.dumps(config, indent=1)


def authentication(url: str, ca: str) -> Object:
    """Return three issuers: one of claims, one of expressions, one whose discovery is elsewhere."""
    issuer = {"certificateAuthority": ca, "audiences": ["cluster"]}
    plain: Object = {
        "issuer": {
            **issuer,
            "url": f"{url}/plain",
            "audiences": ["cluster", "spare"],
            "audienceMatchPolicy": "MatchAny",
        },
        "claimValidationRules": [{"claim": "hd", "requiredValue": "example.com"}],
        "claimMappings": {
            "username": {"claim": "sub", "prefix": "plain:"},
            "groups": {"claim": "groups", "prefix": "plain:"},
            "uid": {"claim": "oid"},
        },
    }
    tenant = {"key": "example.com/tenant", "valueExpression": "claims.tenant"}
    scopes = {"key": "example.com/scopes", "valueExpression": "has(claims.scope) ? claims.scope : ''"}
    verified = "claims.email_verified"
    cel: Object = {
        "issuer": {**issuer, "url": f"{url}/cel"},
        "claimValidationRules": [
            {"expression": "claims.exp - claims.iat <= 86400", "message": "a token may live for a day at most"},
            {"expression": f"!has({verified}) || {verified} == true", "message": "the address must be verified"},
        ],
        "claimMappings": {
            "username": {"expression": "'cel:' + (has(claims.email) ? claims.email : claims.sub)"},
            "groups": {"expression": "has(claims.roles) ? dyn(claims.roles).map(r, 'cel:' + r) : []"},
            "uid": {"expression": "claims.sub"},
            "extra": [tenant, scopes],
        },
        "userValidationRules": [
            {"expression": "!user.username.contains('system:')", "message": "system names are reserved"},
            {"expression": "user.groups.all(g, g != 'cel:banned')", "message": "this group is banned"},
        ],
    }
    discovery = f"{url}/elsewhere/.well-known/openid-configuration"
    elsewhere: Object = {
        "issuer": {**issuer, "url": "https://issuer.example.com", "discoveryURL": discovery},
        "claimMappings": {"username": {"claim": "email", "prefix": ""}},
    }
    head = {"apiVersion": APISERVER, "kind": "AuthenticationConfiguration"}
    conditions = [{"path": path} for path in ("/livez", "/readyz", "/healthz")]
    return {**head, "anonymous": {"enabled": True, "conditions": conditions}, "jwt": [plain, cel, elsewhere]}


def authorization(folder: Path, brief: bool = False) -> Object:
    """Return the order of authorizers; `brief` is the second configuration."""

    def webhook(name: str, policy: str, conditions: list[str]) -> Object:
        info = {"type": "KubeConfigFile", "kubeConfigFile": str(folder / f"authorize-{name}.kubeconfig")}
        hook: Object = {"authorizedTTL": "10m", "unauthorizedTTL": "1s", "timeout": "3s", "failurePolicy": policy}
        hook |= {
            "connectionInfo": info,
            "subjectAccessReviewVersion": "v1",
            "matchConditionSubjectAccessReviewVersion": "v1",
        }
        return {
            "type": "Webhook",
            "name": name,
            "webhook": {**hook, "matchConditions": [{"expression": c} for c in conditions]},
        }

    resource = "has(request.resourceAttributes)"
    gate = webhook("gate", "Deny", [resource, "request.resourceAttributes.namespace.startsWith('gate')"])
    fails = "request.resourceAttributes.name.split('-')[1] == 'b'"  # for a name without a hyphen
    picky = webhook("picky", "Deny", [resource, "request.user == 'petra'", fails])
    loose = webhook("loose", "NoOpinion", [resource, "request.user == 'lou'", fails])
    last = webhook(
        "last", "NoOpinion", ["request.user != 'system:apiserver'", "!('system:serviceaccounts' in request.groups)"]
    )
    rbac = {"type": "RBAC", "name": "rbac"}
    # of the second configuration: hasty waits for a second and keeps nothing, patient continues without an answer
    hasty = webhook("hasty", "Deny", [resource, "request.resourceAttributes.namespace == 'hasty'"])
    hasty["webhook"] |= {"timeout": "1s", "cacheAuthorizedRequests": False, "cacheUnauthorizedRequests": False}
    patient = webhook("patient", "NoOpinion", ["has(request.resourceAttributes)"])
    patient["webhook"] |= {"timeout": "1s", "authorizedTTL": "0s", "unauthorizedTTL": "0s"}
    head = {"apiVersion": APISERVER, "kind": "AuthorizationConfiguration"}
    return {**head, "authorizers": [hasty, rbac, patient] if brief else [gate, picky, loose, rbac, last]}
