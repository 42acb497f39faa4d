"""The NamespaceLifecycle admission plug-in: no new objects in terminating namespaces, no deletion of system ones."""

from __future__ import annotations

from hydrofoil import errors
from hydrofoil.admission.attributes import Attributes
from hydrofoil.admission.plugin import Plugin
from hydrofoil.apis.catalog import Resource
from hydrofoil.registry.objects import Objects
from hydrofoil.registry.write import Operation

PROTECTED = frozenset({"default", "kube-system", "kube-public"})


class NamespaceLifecycle(Plugin):
    """Check the namespace of each create."""

    def __init__(self, objects: Objects) -> None:
        found = objects.catalog.find("", "v1", "namespaces")
        self._namespaces = None if found is None else (objects.collection(found), found.native)

    def handles(self, resource: Resource, subresource: str, operation: Operation) -> bool:
        if operation == "DELETE":
            return resource.storage == ("", "namespaces") and not subresource
        if resource.storage == ("authorization.k8s.io", "localsubjectaccessreviews"):
            # An answer about the namespace would reveal whether it exists.
            return False
        return operation == "CREATE" and resource.namespaced and self._namespaces is not None

    def mutate(self, a: Attributes) -> None:
        """Raise ApiError 404 for a missing namespace, 403 for a terminating one and for one that must remain."""
        if a.operation == "DELETE":
            if a.old is not None and a.old.name in PROTECTED:
                raise a.forbidden("this namespace may not be deleted")
            return
        assert self._namespaces is not None
        collection, native = self._namespaces
        stored = collection.get(native, "", a.namespace)
        if stored is None:
            raise errors.not_found("", "namespaces", a.namespace)
        # A user may have set a label of that name.
        if b'"deletionTimestamp":' in stored.json and stored.thaw().lifecycle().deletion_timestamp:
            why = f"unable to create new content in namespace {a.namespace} because it is being terminated"
            cause = {
                "reason": "NamespaceTerminating",
                "message": f"namespace {a.namespace} is being terminated",
                "field": "metadata.namespace",
            }
            raise a.forbidden(why, [cause])
