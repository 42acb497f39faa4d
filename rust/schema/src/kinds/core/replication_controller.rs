//! Replication controllers (`pkg/registry/core/replicationcontroller/strategy.go`).

use hydrofoil_types::{Causes, Path, Value};

use crate::Request;
use crate::kind::{GenerationRule, NameRule, Strategy};
use hydrofoil_rules::Release;
use hydrofoil_rules::check::Check;
use hydrofoil_rules::table::{self, Subject};
use hydrofoil_rules::workload::{self, counts};
use hydrofoil_rules::{pod_template, workload_status};
use hydrofoil_types::read::{Read, Write};

const SPEC: Path<'static> = Path::new("spec");

pub(crate) static STRATEGY: Strategy = Strategy {
    name_rule: NameRule::Declared,
    has_scale: true,
    has_status: true,
    generation: GenerationRule::of_spec("core.ReplicationControllerSpec"),
    default: |_, object, _| default(object),
    drop_disabled: workload::drop_disabled,
    validate: |req, object, causes| validate(req.release(), object.field("spec"), causes),
    validate_update,
    warn_create: |_, object, out| workload::warn_named(object, out),
    // Upstream passes the two templates the other way round.
    warn_update: |_, object, old, out| {
        if workload::has_new_generation(object, old) {
            workload::warn(old, out);
        }
    },
    row: Some(row),
    ..Strategy::DEFAULT
};

fn default(object: &mut Value) {
    object.make("spec").unset("replicas", 1);
    let labels = object.field("spec").field("template").field("metadata").opt("labels").cloned();
    if let Some(labels) = labels {
        if object.field("spec").zero("selector") {
            object.make("spec").put("selector", labels.clone());
        }
        if object.field("metadata").zero("labels") {
            object.make("metadata").put("labels", labels);
        }
    }
    pod_template::default::template(object.make("spec"), "template");
}

fn validate_update(req: &Request<'_>, object: &Value, _old: &Value, causes: &mut Causes) {
    if req.subresource == "status" {
        return workload_status::replicas(object.field("status"), causes);
    }
    validate(req.release(), object.field("spec"), causes);
}

/// `printReplicationController`.
fn row(subject: &Subject<'_>) -> Vec<Value> {
    table::replicas::row(subject, table::selector::labels(subject.spec(), "selector"))
}

fn validate(release: Release, spec: &Value, causes: &mut Causes) {
    counts(spec, &["minReadySeconds"], &SPEC, causes);
    if spec.zero("selector") {
        causes.need(&SPEC.child("selector"));
    }
    match spec.opt_int("replicas") {
        None => causes.need(&SPEC.child("replicas")),
        Some(n) => causes.not_negative(&SPEC.child("replicas"), n),
    }
    let at = SPEC.child("template");
    let Some(template) = spec.opt("template") else { return causes.need(&at) };
    let labels = template.field("metadata").field("labels");
    if !spec.entries("selector").all(|(k, v)| labels.get(k) == Some(v)) {
        workload::mismatch(labels, &at, causes);
    }
    pod_template::validate::template(release, template, &at, causes);
    workload::always(template, "ReplicationController", &at, causes);
}
