//! The scale of a workload (`pkg/registry/autoscaling/rest.go`).

use hydrofoil_types::{Causes, Path, Value};

use crate::kind::Strategy;
use hydrofoil_rules::check::{Check, NOT_NEGATIVE};
use hydrofoil_rules::table::default::{CREATED, NAME};
use hydrofoil_rules::table::{Subject, cells, column};
use hydrofoil_types::read::Read;

const SPEC: Path<'static> = Path::new("spec");

pub(crate) static STRATEGY: Strategy = Strategy {
    validate: |_, object, causes| validate(object, causes),
    columns: Some(columns),
    row: Some(row),
    ..Strategy::DEFAULT
};

/// `ValidateScale`, but for the metadata.
fn validate(object: &Value, causes: &mut Causes) {
    let replicas = object.field("spec").int("replicas");
    if replicas < 0 {
        causes.invalid_int(&SPEC.child("replicas"), replicas, NOT_NEGATIVE);
    }
}

/// `printScale`.
fn row(subject: &Subject<'_>) -> Vec<Value> {
    cells![subject.name(), subject.spec().int("replicas"), subject.status().int("replicas"), subject.age()]
}

/// Return the columns of `printScale`; scales are not stored, so that the catalog has none.
fn columns() -> Vec<Value> {
    vec![
        column("Name", "string", "", NAME, 0),
        column("Desired", "integer", "", "replicas is the desired number of instances for the scaled object.", 0),
        column(
            "Available",
            "integer",
            "",
            "replicas is the actual number of observed instances of the scaled object.",
            0,
        ),
        column("Age", "string", "", CREATED, 0),
    ]
}
