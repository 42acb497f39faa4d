//! Replica sets (`pkg/registry/apps/replicaset/strategy.go`).

use hydrofoil_types::{Causes, Path, Value};

use crate::Request;
use crate::kind::{GenerationRule, Strategy};
use hydrofoil_rules::Release;
use hydrofoil_rules::table::{self, Subject};
use hydrofoil_rules::workload::{self, Words, counts};
use hydrofoil_rules::workload_status;
use hydrofoil_types::read::{Read, Write};

const SPEC: Path<'static> = Path::new("spec");

pub(crate) static STRATEGY: Strategy = Strategy {
    has_scale: true,
    has_status: true,
    generation: GenerationRule::of_spec("apps.ReplicaSetSpec"),
    default: |_, object, _| default(object),
    drop_disabled: workload::drop_disabled_replicas,
    defaults_of_empty_object: |object| object.object_at_mut(&["spec"]).set("replicas", 0_i64),
    validate: |req, object, causes| validate(req.release(), object.field("spec"), causes),
    validate_update,
    warn_create: |_, object, out| workload::warn_named(object, out),
    warn_update: |_, object, old, out| workload::warn_update(object, old, out),
    row: Some(row),
    ..Strategy::DEFAULT
};

fn default(object: &mut Value) {
    let spec = object.make("spec");
    spec.unset("replicas", 1);
    workload::default_template(spec);
}

fn validate(release: Release, spec: &Value, causes: &mut Causes) {
    const WORDS: Words = Words {
        empty: "empty selector is invalid for deployment",
        invalid: "invalid label selector",
        noun: "ReplicaSet",
    };
    counts(spec, &["replicas", "minReadySeconds"], &SPEC, causes);
    workload::selected_template(release, spec, &WORDS, &SPEC, causes);
}

fn validate_update(req: &Request<'_>, object: &Value, old: &Value, causes: &mut Causes) {
    if req.subresource == "status" {
        return workload_status::replicas(object.field("status"), causes);
    }
    validate(req.release(), object.field("spec"), causes);
    workload::same_selector(object.field("spec"), old.field("spec"), &SPEC, causes);
}

/// `printReplicaSet`.
fn row(subject: &Subject<'_>) -> Vec<Value> {
    table::replicas::row(subject, table::selector::format(subject.spec().field("selector")))
}
