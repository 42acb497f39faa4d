//! Runtime classes (`pkg/registry/node/runtimeclass/strategy.go`).

use hydrofoil_types::{Causes, Duplicates, Map, Path, Value};

use crate::kind::{MetadataCheck, Strategy};
use hydrofoil_internal::InternalCauses;
use hydrofoil_rules::check::{Check, IMMUTABLE};
use hydrofoil_rules::format::name;
use hydrofoil_rules::table::{Subject, cells};
use hydrofoil_rules::{meta, node_label, pod_template, resource};
use hydrofoil_types::read::Read;

pub(crate) static STRATEGY: Strategy = Strategy {
    allow_create_on_update: true,
    allow_unconditional_update: false,
    kube_finalizers: false,
    metadata_on_update: &[MetadataCheck::Object, MetadataCheck::Update],
    validate: |_, object, causes| validate(object, causes),
    validate_update: |_, object, old, causes| validate_update(object, old, causes),
    warn_create: |_, object, out| warn(object, out),
    warn_update: |_, object, _, out| warn(object, out),
    row: Some(row),
    ..Strategy::DEFAULT
};

/// `ValidateRuntimeClass`.
fn validate(object: &Value, causes: &mut Causes) {
    let (at, handler) = (Path::new("handler"), object.text("handler"));
    if handler.is_empty() {
        causes.need(&at);
    } else {
        causes.format(&at, handler, name::label);
    }
    if let Some(overhead) = object.field("overhead").opt("podFixed") {
        let holder = Map::from_unique(vec![("limits".into(), overhead.clone())]);
        resource::requirements(&holder.into(), &resource::Claims::default(), false, &Path::new("overhead"), causes);
    }
    let scheduling = object.field("scheduling");
    let path = Path::new("scheduling");
    meta::labels(scheduling.get("nodeSelector"), &path.child("nodeSelector"), causes);
    let at = path.child("tolerations");
    let list = scheduling.list("tolerations");
    let duplicates = Duplicates::of(list, |t| ["key", "operator", "value", "effect"].map(|key| t.text(key)));
    pod_template::validate::tolerations(false, list, &at, causes);
    for (i, toleration) in list.iter().enumerate() {
        if duplicates.is_repeat(i) {
            causes.duplicate_internal(&at.index(i), "core.Toleration", toleration);
        }
    }
}

fn validate_update(object: &Value, old: &Value, causes: &mut Causes) {
    validate(object, causes);
    if object.text("handler") != old.text("handler") {
        causes.invalid_str(&Path::new("handler"), object.text("handler"), IMMUTABLE);
    }
}

/// `GetWarningsForRuntimeClass`.
fn warn(object: &Value, out: &mut Vec<String>) {
    for (label, _) in object.field("scheduling").entries("nodeSelector") {
        if let Some(message) = node_label::deprecation_message(label) {
            out.push(format!("scheduling.nodeSelector: {message}"));
        }
    }
}

/// `printRuntimeClass`.
fn row(subject: &Subject<'_>) -> Vec<Value> {
    cells![subject.name(), subject.object.text("handler"), subject.age()]
}
