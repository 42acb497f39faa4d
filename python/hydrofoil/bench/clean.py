"""`hydrofoil bench clean`: removes what runs that were killed have left."""

from __future__ import annotations

import sys

from hydrofoil.bench.access import consent, find_access, target
from hydrofoil.bench.failure import INTERRUPTED, WRONG
from hydrofoil.bench.options import CleanOptions, LoadOptions
from hydrofoil.bench.session import Session, interruptible
from hydrofoil.bench.workspace import LABEL, METADATA, Owned, Workspace, remains, remove_namespace, selector

RESOURCES = ("configmaps", "pods", "serviceaccounts")


def run(options: CleanOptions) -> int:
    """Remove all objects with the label of a benchmark; return the exit code."""
    access = find_access(options)
    consent(access, options.yes)
    session = Session(target(access), LoadOptions(), "")
    with interruptible(session):
        workspace = Workspace(session)
        owned = [item for resource in RESOURCES for item in objects_of_benchmark(session, resource)]
        workspace.remove(owned)
        spaces = list(namespaces(session))
        for name, uid in spaces:
            remove_namespace(session, name, uid, workspace.left)
    sys.stderr.write(remains(workspace.left))
    sys.stdout.write(f"removed {len(owned)} objects and {len(spaces)} namespaces\n")
    if session.interrupted:
        return INTERRUPTED
    return WRONG if workspace.left else 0


def objects_of_benchmark(session: Session, resource: str) -> list[Owned]:
    """Return the objects of one resource that a benchmark made."""
    made = []
    for meta in session.metas(f"/api/v1/{resource}?{selector()}", METADATA):
        path = f"/api/v1/namespaces/{meta['namespace']}/{resource}"
        made.append({"path": path, "name": meta["name"], "uid": meta["uid"]})
    return made


def namespaces(session: Session) -> list[tuple[str, str]]:
    """Return names and uids of the namespaces that benchmarks made for themselves or for a flag."""
    metas = session.metas(f"/api/v1/namespaces?{selector()}", METADATA)
    return [(meta["name"], meta["uid"]) for meta in metas if (meta.get("labels") or {}).get(LABEL)]
