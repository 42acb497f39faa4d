"""A selector as Go prints it, which messages of upstream have (apimachinery `meta/v1`, LabelSelector.String)."""

from __future__ import annotations

from hydrofoil.controllers.objects.meta import LabelSelector


def format_selector(selector: LabelSelector) -> str:
    """Return the text.

    >>> format_selector(LabelSelector({"app": "web"}))
    '&LabelSelector{MatchLabels:map[string]string{app: web,},MatchExpressions:[]LabelSelectorRequirement{},}'
    """
    labels = "".join(f"{name}: {value}," for name, value in sorted(selector.match_labels.items()))
    terms = "".join(
        f"LabelSelectorRequirement{{Key:{term.key},Operator:{term.operator},Values:[{' '.join(term.values)}],}},"
        for term in selector.match_expressions
    )
    return (
        f"&LabelSelector{{MatchLabels:map[string]string{{{labels}}},"
        f"MatchExpressions:[]LabelSelectorRequirement{{{terms}}},}}"
    )
