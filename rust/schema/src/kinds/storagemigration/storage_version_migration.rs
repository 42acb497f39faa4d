//! Storage version migrations (`pkg/registry/storagemigration/storagemigration/strategy.go`).

use hydrofoil_types::{Causes, Path, Value};

use crate::kind::{Request, Strategy, reset_metadata};
use hydrofoil_internal::InternalCauses;
use hydrofoil_rules::check::IMMUTABLE;
use hydrofoil_rules::conditions;
use hydrofoil_rules::format::{Format, name};
use hydrofoil_rules::table::text::{condition, group_resource};
use hydrofoil_rules::table::{Subject, cells};
use hydrofoil_types::read::Read;

const SPEC: Path<'static> = Path::new("spec");
const STATUS: Path<'static> = Path::new("status");

pub(crate) static STRATEGY: Strategy = Strategy {
    allow_unconditional_update: false,
    has_status: true,
    status_resets_metadata: true,
    reset_fields: reset_metadata,
    validate: |_, object, causes| validate(object.field("spec"), causes),
    validate_update,
    row: Some(row),
    ..Strategy::DEFAULT
};

/// `ValidateStorageVersionMigration`.
fn validate(spec: &Value, causes: &mut Causes) {
    let of = spec.field("resource");
    let at = SPEC.child("resource");
    match of.text("resource") {
        "" => causes.required(&at.child("resource"), "resource is required to be set"),
        plural => join_causes(&at.child("resource"), plural, name::label_1035, causes),
    }
    if !of.zero("group") {
        join_causes(&at.child("group"), of.text("group"), name::subdomain, causes);
    }
}

/// Add one cause with all errors of a text.
fn join_causes(at: &Path<'_>, text: &str, format: Format, causes: &mut Causes) {
    let mut errors = Vec::new();
    format(text, &mut |detail| errors.push(detail.to_owned()));
    if !errors.is_empty() {
        causes.invalid_str(at, text, &errors.join(","));
    }
}

/// `ValidateStorageVersionMigrationUpdate` and `ValidateStorageVersionMigrationStatusUpdate`.
fn validate_update(req: &Request<'_>, object: &Value, old: &Value, causes: &mut Causes) {
    if req.subresource == "status" {
        return status(object.field("status"), old.field("status"), causes);
    }
    let spec = object.field("spec");
    validate(spec, causes);
    causes.immutable_internal(&SPEC, "storagemigration.StorageVersionMigrationSpec", spec, old.field("spec"));
}

fn status(now: &Value, before: &Value, causes: &mut Causes) {
    let at = STATUS.child("resourceVersion");
    let version = now.text("resourceVersion");
    if !version.is_empty() && !is_version(version) {
        causes.invalid_str(&at, version, &format!("resource version is not well formed: {version}"));
    }
    let list = STATUS.child("conditions");
    conditions::conditions(now.list("conditions"), &list, causes);
    if !before.zero("resourceVersion") && before.text("resourceVersion") != version {
        causes.invalid_str(&at, version, IMMUTABLE);
    }
    let mut refuse = |detail: &str| {
        causes.invalid_internal(&list, "[]meta.Condition", now.field("conditions"), detail);
    };
    if is_true(now, "Succeeded") && is_true(now, "Failed") {
        refuse("Both success and failed conditions cannot be true at the same time");
    }
    if is_true(before, "Succeeded") && !is_true(now, "Succeeded") {
        refuse("Success condition cannot be set to false once it is true");
    }
    if is_true(before, "Failed") && !is_true(now, "Failed") {
        refuse("Failed condition cannot be set to false once it is true");
    }
}

/// `CompareResourceVersion`: a number above zero of any length.
fn is_version(text: &str) -> bool {
    !text.starts_with('0') && text.bytes().all(|b| b.is_ascii_digit())
}

/// `FindStatusCondition` takes the first of a type.
fn is_true(status: &Value, kind: &str) -> bool {
    condition(status, kind).is_some_and(|c| c.text("status") == "True")
}

/// `printStorageVersionMigration`.
fn row(subject: &Subject<'_>) -> Vec<Value> {
    let resource = subject.spec().field("resource");
    let known = |c: &Value| {
        let kind = ["Running", "Failed", "Succeeded"].into_iter().find(|k| *k == c.text("type"));
        kind.filter(|_| c.text("status") == "True")
    };
    let state = subject.status().list("conditions").iter().rev().find_map(known);
    cells![
        subject.name(),
        group_resource(resource.text("resource"), resource.text("group")),
        state.unwrap_or("Unknown")
    ]
}
