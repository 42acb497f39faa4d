"""The DefaultIngressClass admission plug-in: the default class for ingresses that name none."""

from __future__ import annotations

from hydrofoil.admission.default_class import DefaultClass


class DefaultIngressClass(DefaultClass):
    """Set the class of new ingresses."""

    storage = ("networking.k8s.io", "ingresses")
    classes = ("networking.k8s.io", "ingressclasses")
    marks = ("ingressclass.kubernetes.io/is-default-class",)
    field = "ingressClassName"
    old = "kubernetes.io/ingress.class"
