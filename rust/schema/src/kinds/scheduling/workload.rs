//! Workloads (`pkg/registry/scheduling/workload/strategy.go`).

use hydrofoil_types::{Causes, Path, Value};

use super::group;
use crate::kind::Strategy;
use hydrofoil_rules::Release;
use hydrofoil_rules::check::Check;
use hydrofoil_rules::format::name;
use hydrofoil_types::read::{Read, Write};

const SPEC: Path<'static> = Path::new("spec");
const MOST_TEMPLATES: usize = 8;

pub(crate) static STRATEGY: Strategy = Strategy {
    drop_disabled,
    validate: |_, object, causes| validate(object.field("spec"), causes),
    validate_update: |_, object, old, causes| validate_update(object.field("spec"), old.field("spec"), causes),
    row: Some(hydrofoil_rules::table::text::name_and_age),
    ..Strategy::DEFAULT
};

/// `dropDisabledWorkloadFields`: templates are compared by their place.
fn drop_disabled(release: Release, object: &mut Value, old: Option<&Value>) {
    let old = old.map_or(&[][..], |o| o.field("spec").list("podGroupTemplates"));
    let mut place = old.iter();
    object.within("spec", |spec| {
        spec.each("podGroupTemplates", |template| {
            group::drop_disabled(release, template, place.next().unwrap_or(&Value::Null));
        });
    });
}

/// `Validate_WorkloadSpec`.
fn validate(spec: &Value, causes: &mut Causes) {
    if let Some(reference) = spec.opt("controllerRef") {
        controller(reference, &SPEC.child("controllerRef"), causes);
    }
    let (list, at) = (spec.list("podGroupTemplates"), SPEC.child("podGroupTemplates"));
    if !bounded(list, &at, causes) {
        return;
    }
    group::unique(list, "scheduling.PodGroupTemplate", &at, causes);
    for (i, template) in list.iter().enumerate() {
        let at = at.index(i);
        group::required_value(template, "name", name::short, &at, causes);
        group::policy(template.field("schedulingPolicy"), &at.child("schedulingPolicy"), causes);
    }
}

/// Validate the number of templates, and report whether it is allowed.
fn bounded(list: &[Value], at: &Path<'_>, causes: &mut Causes) -> bool {
    if list.len() > MOST_TEMPLATES {
        causes.too_many(at, list.len(), MOST_TEMPLATES);
    }
    if list.is_empty() {
        causes.need(at);
    }
    (1..=MOST_TEMPLATES).contains(&list.len())
}

/// `Validate_TypedLocalObjectReference`.
fn controller(reference: &Value, at: &Path<'_>, causes: &mut Causes) {
    if !reference.zero("apiGroup") {
        causes.format(&at.child("apiGroup"), reference.text("apiGroup"), name::long);
    }
    for key in ["kind", "name"] {
        group::required_value(reference, key, name::path_segment, at, causes);
    }
}

/// Validate an update: nothing of the specification may change.
fn validate_update(spec: &Value, old: &Value, causes: &mut Causes) {
    let fields = [
        ("controllerRef", "*scheduling.TypedLocalObjectReference"),
        ("podGroupTemplates", "[]scheduling.PodGroupTemplate"),
    ];
    for (key, shape) in fields {
        let at = SPEC.child(key);
        if !group::kept(shape, spec.field(key), old.field(key), &at, causes) && key == "podGroupTemplates" {
            bounded(spec.list(key), &at, causes);
        }
    }
}
