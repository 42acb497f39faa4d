//! Label and node selectors.

use hydrofoil_types::{Causes, Path, Value};

use super::check::Check;
use super::format::{label, name};
use super::meta;
use hydrofoil_types::read::Read;

/// `ValidateLabelSelector`.
pub fn label_selector(selector: &Value, path: &Path<'_>, causes: &mut Causes) {
    selector_with(selector, path, true, causes);
}

/// `ValidateLabelSelector`, with values of requirements unchecked where `values` is false.
pub fn selector_with(selector: &Value, path: &Path<'_>, values: bool, causes: &mut Causes) {
    meta::labels(selector.get("matchLabels"), &path.child("matchLabels"), causes);
    let at = path.child("matchExpressions");
    for (i, requirement) in selector.list("matchExpressions").iter().enumerate() {
        let at = at.index(i);
        operator(requirement, &at, false, causes);
        causes.format(&at.child("key"), requirement.text("key"), label::key);
        if values {
            label_values(requirement, &at, causes);
        }
    }
}

fn operator(requirement: &Value, at: &Path<'_>, numbers: bool, causes: &mut Causes) {
    let values = requirement.list("values").len();
    match requirement.text("operator") {
        "In" | "NotIn" => {
            if values == 0 {
                causes.required(&at.child("values"), "must be specified when `operator` is 'In' or 'NotIn'");
            }
        }
        "Exists" | "DoesNotExist" => {
            if values > 0 {
                let detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
                causes.forbidden(&at.child("values"), detail);
            }
        }
        "Gt" | "Lt" if numbers => {
            if values != 1 {
                let detail = "must be specified single value when `operator` is 'Lt' or 'Gt'";
                causes.required(&at.child("values"), detail);
            }
        }
        other => causes.invalid_str(&at.child("operator"), other, "not a valid selector operator"),
    }
}

fn label_values(requirement: &Value, at: &Path<'_>, causes: &mut Causes) {
    let at = at.child("values");
    for (i, value) in requirement.list("values").iter().enumerate() {
        causes.format(&at.index(i), value.as_str().unwrap_or(""), label::value);
    }
}

/// `ValidateNodeSelector`.
pub fn node_selector(selector: &Value, path: &Path<'_>, causes: &mut Causes) {
    let at = path.child("nodeSelectorTerms");
    let terms = selector.list("nodeSelectorTerms");
    if terms.is_empty() {
        return causes.required(&at, "must have at least one node selector term");
    }
    for (i, term) in terms.iter().enumerate() {
        node_term(term, &at.index(i), true, causes);
    }
}

/// `ValidateNodeSelectorTerm`; preferences may hold any values.
pub fn node_term(term: &Value, path: &Path<'_>, values: bool, causes: &mut Causes) {
    let at = path.child("matchExpressions");
    for (i, requirement) in term.list("matchExpressions").iter().enumerate() {
        let at = at.index(i);
        operator(requirement, &at, true, causes);
        causes.format(&at.child("key"), requirement.text("key"), label::key);
        if values {
            label_values(requirement, &at, causes);
        }
    }
    let at = path.child("matchFields");
    for (i, requirement) in term.list("matchFields").iter().enumerate() {
        let at = at.index(i);
        let values = requirement.list("values");
        match requirement.text("operator") {
            "In" | "NotIn" => {
                if values.len() != 1 {
                    let detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
                    causes.required(&at.child("values"), detail);
                }
            }
            other => causes.invalid_str(&at.child("operator"), other, "not a valid selector operator"),
        }
        let key = requirement.text("key");
        if key == "metadata.name" {
            let at = at.child("values");
            for (i, value) in values.iter().enumerate() {
                causes.format(&at.index(i), value.as_str().unwrap_or(""), name::subdomain);
            }
        } else {
            causes.invalid_str(&at.child("key"), key, "not a valid field selector key");
        }
    }
}
