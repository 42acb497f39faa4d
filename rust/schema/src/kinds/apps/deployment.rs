//! Deployments (`pkg/registry/apps/deployment/strategy.go`).

use hydrofoil_types::{Causes, Path, Value};

use crate::Request;
use crate::kind::{GenerationRule, Strategy};
use hydrofoil_internal as internal;
use hydrofoil_rules::Release;
use hydrofoil_rules::check::Check;
use hydrofoil_rules::table::text::containers;
use hydrofoil_rules::table::{self, Subject, cells};
use hydrofoil_rules::workload::{self, Words, at_most_all, count_or_percent, counts, plain_number};
use hydrofoil_rules::workload_status;
use hydrofoil_types::read::{Read, Write, same_field};

const SPEC: Path<'static> = Path::new("spec");

pub(crate) static STRATEGY: Strategy = Strategy {
    has_scale: true,
    reset_fields: |subresource| (subresource == "status").then_some(&[&["spec"], &["metadata", "labels"]]),
    has_status: true,
    generation: GenerationRule::of(differs),
    default: |_, object, _| default(object),
    drop_disabled: workload::drop_disabled_replicas,
    defaults_of_empty_object: |object| object.object_at_mut(&["spec"]).set("replicas", 0_i64),
    prepare_status: |_, object, old, _| object.make("metadata").copy_from(old.field("metadata"), "labels"),
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
    let strategy = spec.make("strategy");
    strategy.fill("type", "RollingUpdate");
    if strategy.text("type") == "RollingUpdate" {
        let rolling = strategy.make("rollingUpdate");
        rolling.unset("maxUnavailable", "25%");
        rolling.unset("maxSurge", "25%");
    }
    workload::default_amounts(strategy);
    spec.unset("revisionHistoryLimit", 10);
    spec.unset("progressDeadlineSeconds", 600);
    workload::default_template(spec);
}

/// Report whether a deployment needs a new generation.
fn differs(object: &Value, old: &Value) -> bool {
    !internal::same("apps.DeploymentSpec", object.field("spec"), old.field("spec"))
        || !same_field(object.field("metadata"), old.field("metadata"), "annotations")
}

fn validate(release: Release, spec: &Value, causes: &mut Causes) {
    const WORDS: Words = Words {
        empty: "empty selector is invalid for deployment",
        invalid: "invalid label selector",
        noun: "ReplicaSet",
    };
    counts(spec, &["replicas"], &SPEC, causes);
    workload::selected_template(release, spec, &WORDS, &SPEC, causes);
    strategy(spec.field("strategy"), &SPEC.child("strategy"), causes);
    counts(spec, &["minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"], &SPEC, causes);
    if let Some(deadline) = spec.opt_int("progressDeadlineSeconds")
        && deadline <= spec.int("minReadySeconds")
    {
        causes.invalid_int(&SPEC.child("progressDeadlineSeconds"), deadline, "must be greater than minReadySeconds");
    }
}

fn strategy(strategy: &Value, path: &Path<'_>, causes: &mut Causes) {
    let at = path.child("rollingUpdate");
    match strategy.text("type") {
        "Recreate" => {
            if strategy.has("rollingUpdate") {
                causes.forbidden(&at, "may not be specified when strategy `type` is 'Recreate'");
            }
        }
        "RollingUpdate" => {
            let Some(rolling) = strategy.opt("rollingUpdate") else {
                return causes.required(&at, "this should be defaulted and never be nil");
            };
            let (unavailable, surge) = (rolling.field("maxUnavailable"), rolling.field("maxSurge"));
            count_or_percent(unavailable, &at.child("maxUnavailable"), causes);
            count_or_percent(surge, &at.child("maxSurge"), causes);
            if plain_number(unavailable) == 0 && plain_number(surge) == 0 {
                causes.invalid(&at.child("maxUnavailable"), unavailable, "may not be 0 when `maxSurge` is 0");
            }
            at_most_all(unavailable, &at.child("maxUnavailable"), causes);
        }
        _ => workload::unsupported_strategy(
            "apps.DeploymentStrategy",
            strategy,
            "\"Recreate\", \"RollingUpdate\"",
            path,
            causes,
        ),
    }
}

fn validate_update(req: &Request<'_>, object: &Value, old: &Value, causes: &mut Causes) {
    if req.subresource == "status" {
        return validate_status(object.field("status"), old.field("status"), causes);
    }
    validate(req.release(), object.field("spec"), causes);
    workload::same_selector(object.field("spec"), old.field("spec"), &SPEC, causes);
}

/// `ValidateDeploymentStatus`.
fn validate_status(new: &Value, old: &Value, causes: &mut Causes) {
    let keys = [
        "observedGeneration",
        "replicas",
        "updatedReplicas",
        "readyReplicas",
        "availableReplicas",
        "unavailableReplicas",
        "terminatingReplicas",
        "collisionCount",
    ];
    workload_status::not_negative(new, &keys, causes);
    workload_status::within_replicas(new, &["updatedReplicas", "readyReplicas", "availableReplicas"], causes);
    workload_status::available(new, "cannot be greater than readyReplicas", causes);
    workload_status::collisions(new, old, causes);
}

/// `printDeployment`.
fn row(subject: &Subject<'_>) -> Vec<Value> {
    let (spec, status) = (subject.spec(), subject.status());
    let (names, images) = containers(spec.field("template").field("spec"));
    cells![
        subject.name(),
        table::text::ready(subject),
        status.int("updatedReplicas"),
        status.int("availableReplicas"),
        subject.age(),
        names,
        images,
        table::selector::parse(spec.field("selector")).unwrap_or_else(|| "<invalid>".to_owned()),
    ]
}
