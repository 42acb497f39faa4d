//! Storage classes (`pkg/registry/storage/storageclass/strategy.go`).

#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]

use std::collections::{BTreeMap, HashMap};

use hydrofoil_types::{Causes, Duplicates, Path, Value, Whole};

use super::class::{parameters, provisioner};
use crate::kind::{MetadataCheck, Strategy};
use hydrofoil_internal::InternalCauses;
use hydrofoil_rules::check::Check;
use hydrofoil_rules::format::label;
use hydrofoil_rules::node_label;
use hydrofoil_rules::table::text::deref;
use hydrofoil_rules::table::{Subject, cells};
use hydrofoil_types::read::{Read, Write};

pub(crate) static STRATEGY: Strategy = Strategy {
    returns_deleted_object: true,
    default: |_, object, _| default(object),
    metadata_on_update: &[MetadataCheck::Object, MetadataCheck::Update],
    validate: |_, object, causes| validate(object, causes),
    validate_update: |_, object, old, causes| validate_update(object, old, causes),
    warn_create: |_, object, out| warn(object, out),
    warn_update: |_, object, _, out| warn(object, out),
    row: Some(row),
    ..Strategy::DEFAULT
};

fn default(object: &mut Value) {
    object.unset("reclaimPolicy", "Delete");
    object.unset("volumeBindingMode", "Immediate");
}

/// `ValidateStorageClass`.
fn validate(object: &Value, causes: &mut Causes) {
    provisioner(object.text("provisioner"), &Path::new("provisioner"), causes);
    parameters(object, causes);
    if !object.zero("reclaimPolicy") {
        causes.one_of(&Path::new("reclaimPolicy"), object.text("reclaimPolicy"), &["Delete", "Retain"]);
    }
    let at = Path::new("volumeBindingMode");
    match object.opt("volumeBindingMode") {
        None => causes.need(&at),
        Some(mode) => causes.one_of(&at, mode.as_str().unwrap_or(""), &["Immediate", "WaitForFirstConsumer"]),
    }
    topologies(object.list("allowedTopologies"), causes);
}

/// `ValidateStorageClassUpdate`.
fn validate_update(object: &Value, old: &Value, causes: &mut Causes) {
    validate(object, causes);
    for (key, shape) in
        [("parameters", "{}s"), ("provisioner", "s"), ("reclaimPolicy", "*s"), ("volumeBindingMode", "*s")]
    {
        causes.immutable_internal(&Path::new(key), shape, object.field(key), old.field(key));
    }
}

/// `validateAllowedTopologies`.
fn topologies(terms: &[Value], causes: &mut Causes) {
    let path = Path::new("allowedTopologies");
    // Upstream begins with as many empty terms as there are terms, so an empty one is reported for each.
    let mut empty = terms.len();
    let mut seen: HashMap<Vec<(&str, Vec<&str>)>, usize> = HashMap::new();
    for (i, term) in terms.iter().enumerate() {
        let at = path.index(i);
        let at = at.child("matchLabelExpressions");
        let expressions = term.list("matchLabelExpressions");
        let mut set: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let duplicates = Duplicates::of(expressions, |v| v.text("key"));
        for (j, expression) in expressions.iter().enumerate() {
            let at = at.index(j);
            let values = expression.list("values");
            let values_at = at.child("values");
            if values.is_empty() {
                causes.need(&values_at);
            }
            let twice = Duplicates::of(values, Whole);
            for (k, value) in values.iter().enumerate() {
                if twice.is_repeat(k) {
                    causes.duplicate(&values_at.index(k), value);
                }
            }
            let key = expression.text("key");
            causes.format(&at.child("key"), key, label::key);
            if duplicates.is_repeat(j) {
                causes.duplicate_str(&at.child("key"), key);
            }
            let mut list: Vec<&str> = values.iter().map(|v| v.as_str().unwrap_or("")).collect();
            list.sort_unstable();
            list.dedup();
            set.insert(key, list);
        }
        let times = if set.is_empty() { &mut empty } else { seen.entry(set.into_iter().collect()).or_default() };
        for _ in 0..*times {
            if causes.is_full() {
                break;
            }
            causes.duplicate_str(&at, "");
        }
        *times += 1;
    }
}

/// `GetWarningsForStorageClass`.
fn warn(object: &Value, out: &mut Vec<String>) {
    let path = Path::new("allowedTopologies");
    for (i, term) in object.list("allowedTopologies").iter().enumerate() {
        let path = path.index(i);
        let path = path.child("matchLabelExpressions");
        for (j, expression) in term.list("matchLabelExpressions").iter().enumerate() {
            if let Some(message) = node_label::deprecation_message(expression.text("key")) {
                out.push(format!("{}: {message}", path.index(j).child("key")));
            }
        }
    }
}

/// `printStorageClass`.
fn row(subject: &Subject<'_>) -> Vec<Value> {
    let class = subject.object;
    let default = ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"]
        .into_iter()
        .any(|key| subject.annotation(key) == Some("true"));
    cells![
        format!("{}{}", subject.name(), if default { " (default)" } else { "" }),
        class.text("provisioner"),
        deref(class, "reclaimPolicy", "Delete"),
        deref(class, "volumeBindingMode", "Immediate"),
        class.flag("allowVolumeExpansion"),
        subject.age(),
    ]
}
