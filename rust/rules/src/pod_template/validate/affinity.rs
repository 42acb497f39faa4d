//! Affinity to nodes and pods.

use std::collections::HashMap;

use hydrofoil_types::{Causes, KeySet, Path, Value, Whole};

use crate::check::Check;
use crate::format::{label, name};
use crate::selector;
use hydrofoil_types::read::Read;

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";
const WEIGHT: &str = "must be in the range 1-100";

/// `validateAffinity`.
pub fn check(affinity: &Value, path: &Path<'_>, causes: &mut Causes) {
    if let Some(node) = affinity.opt("nodeAffinity") {
        let path = path.child("nodeAffinity");
        if let Some(required) = node.opt(REQUIRED) {
            selector::node_selector(required, &path.child(REQUIRED), causes);
        }
        let at = path.child(PREFERRED);
        for (i, term) in node.list(PREFERRED).iter().enumerate() {
            let at = at.index(i);
            weight(term, &at, causes);
            selector::node_term(term.field("preference"), &at.child("preference"), false, causes);
        }
    }
    for kind in ["podAffinity", "podAntiAffinity"] {
        let Some(pods) = affinity.opt(kind) else { continue };
        let path = path.child(kind);
        let at = path.child(REQUIRED);
        for (i, one) in pods.list(REQUIRED).iter().enumerate() {
            term(one, &at.index(i), causes);
        }
        let at = path.child(PREFERRED);
        for (i, weighted) in pods.list(PREFERRED).iter().enumerate() {
            let at = at.index(i);
            weight(weighted, &at, causes);
            term(weighted.field("podAffinityTerm"), &at.child("podAffinityTerm"), causes);
        }
    }
}

fn weight(term: &Value, path: &Path<'_>, causes: &mut Causes) {
    let weight = term.int("weight");
    if !(1..=100).contains(&weight) {
        causes.invalid_int(&path.child("weight"), weight, WEIGHT);
    }
}

/// `validatePodAffinityTerm`.
fn term(term: &Value, path: &Path<'_>, causes: &mut Causes) {
    for key in ["labelSelector", "namespaceSelector"] {
        selector::label_selector(term.field(key), &path.child(key), causes);
    }
    for namespace in term.list("namespaces") {
        causes.format(&path.child("namespace"), namespace.as_str().unwrap_or(""), name::label);
    }
    label_keys(term, path, causes);
    let at = path.child("topologyKey");
    if term.zero("topologyKey") {
        causes.required(&at, "can not be empty");
    }
    causes.format(&at, term.text("topologyKey"), label::key);
}

/// `ValidateMatchLabelKeysInTopologySpread`: keys that no preparation merges into the selector.
pub fn unmerged_keys(constraint: &Value, at: &Path<'_>, causes: &mut Causes) {
    let keys = constraint.list("matchLabelKeys");
    if keys.is_empty() {
        return;
    }
    let selector = constraint.field("labelSelector");
    if !constraint.has("labelSelector") {
        causes.forbidden(at, "must not be specified when labelSelector is not set");
    }
    let labels = selector.entries("matchLabels").map(|(key, _)| key.as_str());
    let known: KeySet<&str> = labels.chain(selector.list("matchExpressions").iter().map(|r| r.text("key"))).collect();
    for (i, key) in keys.iter().enumerate() {
        let key = key.as_str().unwrap_or("");
        causes.format(&at.index(i), key, label::key);
        if known.contains(&key) {
            causes.invalid_str(&at.index(i), key, "exists in both matchLabelKeys and labelSelector");
        }
    }
}

/// `ValidateMatchLabelKeysAndMismatchLabelKeys`.
pub fn label_keys(term: &Value, path: &Path<'_>, causes: &mut Causes) {
    let selector = term.opt("labelSelector");
    for key in ["matchLabelKeys", "mismatchLabelKeys"] {
        let keys = term.list(key);
        let at = path.child(key);
        if keys.is_empty() {
            continue;
        }
        if selector.is_none() {
            causes.forbidden(&at, "must not be specified when labelSelector is not set");
            continue;
        }
        for (i, key) in keys.iter().enumerate() {
            causes.format(&at.index(i), key.as_str().unwrap_or(""), label::key);
        }
    }
    let keys = term.list("matchLabelKeys");
    if let Some(selector) = selector.filter(|_| !keys.is_empty()) {
        // The key was merged into the selector once; a second requirement is the user's own.
        let places: HashMap<_, _> = keys.iter().enumerate().map(|(i, key)| (key.as_str(), i)).collect();
        let mut seen: KeySet<&str> = selector.entries("matchLabels").map(|(k, _)| k.as_str()).collect();
        for requirement in selector.list("matchExpressions") {
            let key = requirement.text("key");
            let again = !seen.insert(key);
            if let Some(i) = places.get(&Some(key)).filter(|_| again) {
                causes.invalid_str(&path.index(*i), key, "exists in both matchLabelKeys and labelSelector");
            }
        }
    }
    if keys.is_empty() {
        return;
    }
    let mismatch: KeySet<_> = term.list("mismatchLabelKeys").iter().map(Whole).collect();
    let at = path.child("matchLabelKeys");
    for (i, key) in keys.iter().enumerate() {
        if mismatch.contains(&Whole(key)) {
            causes.invalid(&at.index(i), key, "exists in both matchLabelKeys and mismatchLabelKeys");
        }
    }
}
