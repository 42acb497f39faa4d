"""The users of service accounts (apiserver `pkg/authentication/serviceaccount/util.go`)."""

from __future__ import annotations

from hydrofoil.authentication.client_certificates import CREDENTIAL_ID
from hydrofoil.request import User

PREFIX = "system:serviceaccount:"
POD_NAME, POD_UID = "authentication.kubernetes.io/pod-name", "authentication.kubernetes.io/pod-uid"
NODE_NAME, NODE_UID = "authentication.kubernetes.io/node-name", "authentication.kubernetes.io/node-uid"


def name_of(namespace: str, name: str) -> str:
    """Return the name of an account's user."""
    return f"{PREFIX}{namespace}:{name}"


def user_of(
    namespace: str,
    name: str,
    uid: str,
    *,
    pod: tuple[str, str] = ("", ""),
    node: tuple[str, str] = ("", ""),
    credential: str = "",
) -> User:
    """Return the user of an account's token; `pod` and `node`: names and uids of the objects that it is bound to."""
    extra: dict[str, tuple[str, ...]] = {}
    if all(pod):
        extra |= {POD_NAME: (pod[0],), POD_UID: (pod[1],)}
    if credential:
        extra[CREDENTIAL_ID] = (f"JTI={credential}",)
    if node[0]:
        extra[NODE_NAME] = (node[0],)
        if node[1]:
            extra[NODE_UID] = (node[1],)
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}")
    return User(name_of(namespace, name), uid, groups, extra)
