"""The DefaultStorageClass admission plug-in: the default class for claims that name none."""

from __future__ import annotations

from hydrofoil.admission.default_class import DefaultClass


class DefaultStorageClass(DefaultClass):
    """Set the class of new claims."""

    storage = ("", "persistentvolumeclaims")
    classes = ("storage.k8s.io", "storageclasses")
    marks = ("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")
    field = "storageClassName"
    old = "volume.beta.kubernetes.io/storage-class"
