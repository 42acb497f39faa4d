"""`hydrofoil bench clean`: removes what runs that were killed have left."""

from __future__ import annotations

import sys

from hydrofoil.bench.access import consent, find_access, target
from hydrofoil.bench.failure import INTERRUPTED, WRONG
from hydrofoil.bench.options import CleanOptions, LoadOptions
from hydrofoil.bench.session import Session, interruptible
from hydrofoil.bench.workspace import (
    CUSTOM,
    DEFINITIONS,
    LABEL,
    METADATA,
    Owned,
    Workspace,
    remains,
    remove_namespace,
    selector,
)

RESOURCES = ("configmaps", "pods", "serviceaccounts")


def run(options: CleanOptions) -> int:
    """Remove all objects with the label of a benchmark; return the exit code."""
    access = find_access(options)
    consent(access, options.yes)
    session = Session(target(access), LoadOptions(), "")
    with interruptible(session):
        workspace = Workspace(session)
        owned = [item for resource in RESOURCES for item in objects_of_benchmark(session, f"/api/v1/{resource}")]
        if session.get(f"{CUSTOM}/records?limit=1") is not None:
            owned += objects_of_benchmark(session, f"{CUSTOM}/records")
            for made in session.metas(f"{DEFINITIONS}?{selector()}", METADATA):
                owned.append({"path": DEFINITIONS, "name": made["name"], "uid": made["uid"]})
        workspace.remove(owned)
        spaces = list(namespaces(session))
        for name, uid in spaces:
            remove_namespace(session, name, uid, workspace.left)
    sys.stderr.write(remains(workspace.left))
    sys.stdout.write(f"removed {len(owned)} objects and {len(spaces)} namespaces\n")
    if session.interrupted:
        return INTERRUPTED
    return WRONG if workspace.left else 0


def objects_of_benchmark(session: Session, collection: str) -> list[Owned]:
    """Return the objects of a collection of all namespaces that a benchmark made."""
    made = []
    group, _, plural = collection.rpartition("/")
    for meta in session.metas(f"{collection}?{selector()}", METADATA):
        path = f"{group}/namespaces/{meta['namespace']}/{plural}"
        made.append({"path": path, "name": meta["name"], "uid": meta["uid"]})
    return made


def namespaces(session: Session) -> list[tuple[str, str]]:
    """Return names and uids of the namespaces that benchmarks made for themselves or for a flag."""
    metas = session.metas(f"/api/v1/namespaces?{selector()}", METADATA)
    return [(meta["name"], meta["uid"]) for meta in metas if (meta.get("labels") or {}).get(LABEL)]
