"""The ServiceAccount admission plug-in: the account of a pod, and its token (`plugin/pkg/admission/serviceaccount`)."""

from __future__ import annotations

from collections.abc import Awaitable, Iterator
from typing import Any

import orjson

from hydrofoil.admission.attributes import Attributes
from hydrofoil.admission.plugin import Plugin
from hydrofoil.apis.catalog import Resource
from hydrofoil.clock import Chance, Clock
from hydrofoil.errors import ApiError
from hydrofoil.registry.objects import Objects
from hydrofoil.registry.write import Operation

DEFAULT = "default"
MIRROR = "kubernetes.io/config.mirror"
ENFORCE = "kubernetes.io/enforce-mountable-secrets"
TRUE = frozenset(("1", "t", "T", "true", "TRUE", "True"))
MOUNT_PATH = "/var/run/secrets/kubernetes.io/serviceaccount"
VOLUME = "kube-api-access"
TRIES = 10
RETRY_SECONDS = 0.1
SECONDS = 3607
Body = dict[str, Any]


class ServiceAccount(Plugin):
    """Give each pod an account that exists, a volume with its token, and its pull secrets."""

    repeats = False

    def __init__(self, objects: Objects, clock: Clock, chance: Chance) -> None:
        self._objects = objects
        self._clock = clock
        self._chance = chance

    def handles(self, resource: Resource, subresource: str, operation: Operation) -> bool:
        if resource.storage != ("", "pods"):
            return False
        return (
            not subresource if operation == "CREATE" else (operation, subresource) == ("UPDATE", "ephemeralcontainers")
        )

    def mutate(self, a: Attributes) -> Awaitable[None] | None:
        if a.operation != "CREATE":
            return None
        if mirrored(a):
            check_mirror(a)
            return None
        name = text(a, "serviceAccountName") or DEFAULT
        account = self._account(a.namespace, name)
        if account is None:
            return self._waiting(a, name)
        self._give(a, name, account)
        return None

    async def _waiting(self, a: Attributes, name: str) -> None:
        """Wait shortly for an account: a controller makes the default one right after its namespace."""
        for _ in range(TRIES if name == DEFAULT else 1):
            await self._clock.machine.sleep(RETRY_SECONDS)
            if (account := self._account(a.namespace, name)) is not None:
                self._give(a, name, account)
                return
        raise absent(a, name)

    def _account(self, namespace: str, name: str) -> Body | None:
        found = self._objects.find("", "serviceaccounts", namespace, name)
        return None if found is None else orjson.loads(found.json)

    def _give(self, a: Attributes, name: str, account: Body) -> None:
        draft = a.object
        for member in ("serviceAccountName", "serviceAccount"):
            draft.set(["spec", member], orjson.dumps(name))
        wants = value(a, "automountServiceAccountToken")
        if wants is None:
            wants = account.get("automountServiceAccountToken", True)
        if wants:
            self._mount(a)
        if not value(a, "imagePullSecrets") and account.get("imagePullSecrets"):
            draft.set(["spec", "imagePullSecrets"], orjson.dumps(account["imagePullSecrets"]))
        # Before the rules of pods are checked, as upstream's `Admit` does.
        self.validate(a)

    def _mount(self, a: Attributes) -> None:
        """Mount a volume with a token where nothing else is mounted."""
        volumes: list[Body] = value(a, "volumes") or []
        present = next((v["name"] for v in volumes if v.get("name", "").startswith(f"{VOLUME}-")), None)
        name = present or f"{VOLUME}-{self._chance.letters(5)}"
        mount = {"name": name, "readOnly": True, "mountPath": MOUNT_PATH}
        needed = False
        for member in ("initContainers", "containers"):
            containers: list[Body] = value(a, member) or []
            changed = False
            for container in containers:
                mounts = container.get("volumeMounts") or []
                if not any(m.get("mountPath") == MOUNT_PATH for m in mounts):
                    container["volumeMounts"] = [*mounts, mount]
                    changed = True
            if changed:
                needed = True
                a.object.set(["spec", member], orjson.dumps(containers))
        if needed and present is None:
            a.object.set(["spec", "volumes"], orjson.dumps([*volumes, volume(name)]))

    def validate(self, a: Attributes) -> None:
        if a.operation == "CREATE" and mirrored(a):
            check_mirror(a)
            return
        name = text(a, "serviceAccountName")
        if not name:
            raise a.forbidden(f"no service account specified for pod {a.namespace}/{a.object.metadata().name}")
        account = self._account(a.namespace, name)
        if account is None:
            raise absent(a, name)
        if account["metadata"].get("annotations", {}).get(ENFORCE, "") not in TRUE:
            return
        for why in reasons_of_unlisted_secrets(a, account):
            raise a.forbidden(why)


def value(a: Attributes, member: str) -> Any:
    """Return a member of the pod's spec; None if missing."""
    found = a.object.get(["spec", member])
    return None if found is None else orjson.loads(found)


def text(a: Attributes, member: str) -> str:
    """Return a text in the pod's spec; empty if missing."""
    found: str = value(a, member) or ""
    return found


def mirrored(a: Attributes) -> bool:
    """Report whether a pod shows one that a kubelet runs from a file: its spec may not be changed."""
    return MIRROR in orjson.loads(a.object.get(["metadata", "annotations"]) or b"{}")


def absent(a: Attributes, name: str) -> ApiError:
    """Return the 403 for a pod of an account that does not exist."""
    return a.forbidden(f'error looking up service account {a.namespace}/{name}: serviceaccount "{name}" not found')


def volume(name: str) -> Body:
    """Return the volume with the token of a pod, the authority of the server and the name of the namespace."""
    field = {"apiVersion": "v1", "fieldPath": "metadata.namespace"}
    sources = [
        {"serviceAccountToken": {"expirationSeconds": SECONDS, "path": "token"}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": field}]}},
    ]
    return {"name": name, "projected": {"sources": sources, "defaultMode": 0o644}}


def check_mirror(a: Attributes) -> None:
    """Raise ApiError 403 for a mirror pod that refers to accounts or secrets."""
    if text(a, "serviceAccountName"):
        raise a.forbidden("a mirror pod may not reference service accounts")
    spec = orjson.loads(a.object.get(["spec"]) or b"{}")
    if any(True for _ in secrets_of(spec)):
        raise a.forbidden("a mirror pod may not reference secrets")
    for mounted in spec.get("volumes") or ():
        for source in (mounted.get("projected") or {}).get("sources") or ():
            if "serviceAccountToken" in source:
                raise a.forbidden("a mirror pod may not use ServiceAccountToken volume projections")


SECRET_REFERENCES = ("secretRef", "nodePublishSecretRef", "controllerPublishSecretRef")


def secrets_of(spec: Body) -> Iterator[str]:
    """Yield the names of the secrets that a pod refers to (`pkg/api/pod/util.go`: VisitPodSecretNames)."""
    for reference in spec.get("imagePullSecrets") or ():
        yield reference.get("name", "")
    for member in ("initContainers", "containers", "ephemeralContainers"):
        for container in spec.get(member) or ():
            for source in container.get("envFrom") or ():
                if "secretRef" in source:
                    yield source["secretRef"].get("name", "")
            for variable in container.get("env") or ():
                if (key := (variable.get("valueFrom") or {}).get("secretKeyRef")) is not None:
                    yield key.get("name", "")
    for mounted in spec.get("volumes") or ():
        if (secret := mounted.get("secret")) is not None:
            yield secret.get("secretName", "")
        for source in (mounted.get("projected") or {}).get("sources") or ():
            if "secret" in source:
                yield source["secret"].get("name", "")
        if "azureFile" in mounted:
            yield mounted["azureFile"].get("secretName", "")
        for kind in ("cephfs", "cinder", "flexVolume", "rbd", "scaleIO", "iscsi", "storageos", "csi"):
            for reference in SECRET_REFERENCES:
                if isinstance(found := (mounted.get(kind) or {}).get(reference), dict):
                    yield found.get("name", "")


def reasons_of_unlisted_secrets(a: Attributes, account: Body) -> Iterator[str]:
    """Yield a reason for each secret of a pod that its account does not list (`limitSecretReferences`)."""
    listed = {reference.get("name") for reference in account.get("secrets") or ()}
    name = account["metadata"]["name"]
    tail = f"is not allowed because service account {name} does not reference that secret"
    if a.operation == "UPDATE":
        yield from _of_containers(a, "ephemeralContainers", "ephemeral container", listed, tail)
        return
    for mounted in value(a, "volumes") or ():
        if (secret := mounted.get("secret")) is not None and secret.get("secretName") not in listed:
            yield f'volume with secret.secretName="{secret.get("secretName", "")}" {tail}'
    yield from _of_containers(a, "initContainers", "init container", listed, tail)
    yield from _of_containers(a, "containers", "container", listed, tail)
    pulling = {reference.get("name") for reference in account.get("imagePullSecrets") or ()}
    for at, reference in enumerate(value(a, "imagePullSecrets") or ()):
        if reference.get("name") not in pulling:
            why = f"is not allowed because service account {name} does not reference that imagePullSecret"
            yield f'imagePullSecrets[{at}].name="{reference.get("name", "")}" {why}'


def _of_containers(a: Attributes, member: str, kind: str, listed: set[Any], tail: str) -> Iterator[str]:
    for container in value(a, member) or ():
        for variable in container.get("env") or ():
            key = (variable.get("valueFrom") or {}).get("secretKeyRef")
            if key is not None and key.get("name") not in listed:
                where = f"{kind} {container.get('name', '')} with envVar {variable.get('name', '')}"
                yield f'{where} referencing secret.secretName="{key.get("name", "")}" {tail}'
