//! Pod templates (`pkg/registry/core/podtemplate/strategy.go`).

use hydrofoil_types::{Causes, Path, Value};

use crate::kind::{GenerationRule, Strategy};
use hydrofoil_rules::Release;
use hydrofoil_rules::table::text::containers;
use hydrofoil_rules::table::{self, Subject, cells};
use hydrofoil_rules::{pod_template, workload};
use hydrofoil_types::read::{Read, Write};

pub(crate) static STRATEGY: Strategy = Strategy {
    returns_deleted_object: true,
    generation: GenerationRule::of(|new, old| {
        !hydrofoil_internal::same("core.PodTemplateSpec", new.field("template"), old.field("template"))
    }),
    default: |_, object, _| default(object),
    drop_disabled: pod_template::gates::template,
    validate: |req, object, causes| validate(req.release(), object, causes),
    warn_create: |_, object, out| warn(object, out),
    warn_update: |_, object, old, out| {
        if workload::has_new_generation(object, old) {
            warn(object, out);
        }
    },
    row: Some(row),
    ..Strategy::DEFAULT
};

/// `SetDefaults_PodTemplate`.
fn default(object: &mut Value) {
    object.make("template").make("spec");
    pod_template::default::template(object, "template");
}

fn validate(release: Release, object: &Value, causes: &mut Causes) {
    pod_template::validate::template(release, object.field("template"), &Path::new("template"), causes);
}

fn warn(object: &Value, out: &mut Vec<String>) {
    pod_template::warn::warnings(object.field("template"), &Path::new("template"), true, out);
}

/// `printPodTemplate`.
fn row(subject: &Subject<'_>) -> Vec<Value> {
    let template = subject.object.field("template");
    let (names, images) = containers(template.field("spec"));
    cells![subject.name(), names, images, table::selector::labels(template.field("metadata"), "labels")]
}
