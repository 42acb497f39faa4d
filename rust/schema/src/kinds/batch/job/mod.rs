//! Jobs (`pkg/registry/batch/job/strategy.go`).

mod policy;
mod prepare;
mod status;
mod update;
pub(super) mod validate;

use hydrofoil_types::{Path, SmolStr, Value};

use crate::kind::{GenerationRule, Strategy};
use hydrofoil_rules::table::text::{condition, containers};
use hydrofoil_rules::table::{self, Subject, age, cells};
use hydrofoil_rules::{hostname, pod_template, workload};
use hydrofoil_types::read::{Read, Write};

pub(crate) static STRATEGY: Strategy = Strategy {
    has_status: true,
    generation: GenerationRule::of_spec("batch.JobSpec"),
    default: |_, object, _| default(object),
    drop_disabled: workload::drop_disabled,
    prepare_create: |_, object, _| prepare::create(object),
    label: prepare::share_labels,
    metadata_on_update: &[],
    metadata_on_status: &[],
    validate: |req, object, causes| validate::rules(req.release(), object, None, causes),
    validate_update: update::update,
    warn_create: |_, object, out| {
        hostname::warn(object, "Pod names and hostnames", out);
        warn(object, out);
    },
    warn_update: |_, object, old, out| {
        if workload::has_new_generation(object, old) {
            warn(object, out);
        }
    },
    row: Some(row),
    field_value,
    unknown_field: |_, label| Some(format!("field label {label:?} not supported for Job")),
    ..Strategy::DEFAULT
};

/// `JobToSelectableFields`.
fn field_value(label: &str, object: &Value) -> Option<SmolStr> {
    (label == "status.successful").then(|| object.field("status").int("succeeded").to_string().into())
}

fn default(object: &mut Value) {
    let spec = object.make("spec");
    if !spec.has("completions") && !spec.has("parallelism") {
        spec.put("completions", 1);
    }
    spec.unset("parallelism", 1);
    let limit = if spec.has("backoffLimitPerIndex") { i64::from(i32::MAX) } else { 6 };
    spec.unset("backoffLimit", limit);
    spec.unset("completionMode", "NonIndexed");
    spec.unset("suspend", false);
    let replacement = if spec.has("podFailurePolicy") { "Failed" } else { "TerminatingOrFailed" };
    spec.unset("podReplacementPolicy", replacement);
    spec.unset("manualSelector", false);
    default_spec(spec);
    let labels = spec.field("template").field("metadata").opt("labels").cloned();
    if let Some(labels) = labels.filter(|l| !l.is_zero())
        && object.field("metadata").zero("labels")
    {
        object.make("metadata").put("labels", labels);
    }
}

/// Set the defaults within the spec of a job, which `SetDefaults_Job` does not.
pub(super) fn default_spec(spec: &mut Value) {
    spec.within("podFailurePolicy", |policy| {
        policy.each("rules", |rule| {
            rule.each("onPodConditions", |pattern| pattern.fill("status", "True"));
        });
    });
    pod_template::default::spec(spec.make("template").make("spec"));
}

fn warn(object: &Value, out: &mut Vec<String>) {
    warn_spec(object.field("spec"), &Path::new("spec"), out);
}

/// `WarningsForJobSpec`.
pub(super) fn warn_spec(spec: &Value, path: &Path<'_>, out: &mut Vec<String>) {
    let many = spec.int("completions") > 100_000 && spec.int("parallelism") > 10_000;
    if many && spec.text("completionMode") == "Indexed" {
        out.push(format!(
            "{path}: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail"
        ));
    }
    pod_template::warn::warnings(spec.field("template"), &path.child("template"), true, out);
}

/// `printJob`.
pub(crate) fn row(subject: &Subject<'_>) -> Vec<Value> {
    let (spec, status) = (subject.spec(), subject.status());
    let done = status.int("succeeded");
    let completions = match (spec.opt_int("completions"), spec.int("parallelism")) {
        (Some(wanted), _) => format!("{done}/{wanted}"),
        (None, parallel @ 2..) => format!("{done}/1 of {parallel}"),
        (None, _) => format!("{done}/1"),
    };
    let moment = |key| status.opt(key).map(|t| age::pointer_time(t.as_str().unwrap_or("")));
    let duration = moment("startTime").map_or_else(String::new, |start| match moment("completionTime") {
        Some(end) => age::between(start, end),
        None => subject.ago(start),
    });
    let (names, images) = containers(spec.field("template").field("spec"));
    cells![
        subject.name(),
        state(subject),
        completions,
        duration,
        subject.age(),
        names,
        images,
        table::selector::format(spec.field("selector")),
    ]
}

fn state(subject: &Subject<'_>) -> &'static str {
    let holds = |kind| condition(subject.status(), kind).is_some_and(|c| c.text("status") == "True");
    if holds("Complete") {
        "Complete"
    } else if holds("Failed") {
        "Failed"
    } else if subject.deleting() {
        "Terminating"
    } else if holds("Suspended") {
        "Suspended"
    } else if holds("FailureTarget") {
        "FailureTarget"
    } else if holds("SuccessCriteriaMet") {
        "SuccessCriteriaMet"
    } else {
        "Running"
    }
}
