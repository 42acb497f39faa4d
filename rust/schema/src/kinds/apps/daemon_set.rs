//! Daemon sets (`pkg/registry/apps/daemonset/strategy.go`).

use std::num::{IntErrorKind, ParseIntError};

use hydrofoil_text::quoted;
use hydrofoil_types::{Causes, Path, Value};

use crate::Request;
use crate::kind::{GenerationRule, Strategy};
use hydrofoil_internal::{self as internal, InternalCauses};
use hydrofoil_rules::Release;
use hydrofoil_rules::check::Check;
use hydrofoil_rules::table::text::containers;
use hydrofoil_rules::table::{self, Subject, cells};
use hydrofoil_rules::workload::{self, at_most_all, count_or_percent, counts, plain_number};
use hydrofoil_rules::{pod_template, selector, workload_status};
use hydrofoil_types::read::{Read, Write};

const SPEC: Path<'static> = Path::new("spec");

pub(crate) static STRATEGY: Strategy = Strategy {
    has_status: true,
    generation: GenerationRule::of_spec("apps.DaemonSetSpec"),
    default: |_, object, _| default(object),
    drop_disabled: workload::drop_disabled,
    conversion_refusal,
    defaults_of_empty_object,
    converted_annotation: Some(KEY),
    prepare_create: |_, object, _| prepare_create(object),
    prepare_update: |_, object, old| prepare_update(object, old),
    prepare_status: |_, object, old, _| prepare_status(object, old),
    validate: |req, object, causes| validate(req.release(), object.field("spec"), causes),
    validate_update,
    warn_create: |_, object, out| workload::warn(object, out),
    warn_update: |_, object, old, out| {
        let template = |of: &Value| of.field("metadata").field("annotations").text(KEY).to_owned();
        if template(object) != template(old) {
            workload::warn(object, out);
        }
    },
    row: Some(row),
    ..Strategy::DEFAULT
};

fn default(object: &mut Value) {
    let spec = object.make("spec");
    let strategy = spec.make("updateStrategy");
    strategy.fill("type", "RollingUpdate");
    if strategy.text("type") == "RollingUpdate" {
        let rolling = strategy.make("rollingUpdate");
        rolling.unset("maxUnavailable", 1);
        rolling.unset("maxSurge", 0);
    }
    workload::default_amounts(strategy);
    spec.unset("revisionHistoryLimit", 10);
    workload::default_template(spec);
    defaults_of_empty_object(object);
}

/// The annotation that keeps the generation of the template (`DeprecatedTemplateGeneration`).
pub(crate) const KEY: &str = "deprecated.daemonset.template.generation";

/// `Convert_v1_DaemonSet_To_apps_DaemonSet`: the annotation is a number there.
fn conversion_refusal(object: &Value) -> Option<String> {
    let text = object.get("metadata")?.get("annotations")?.get(KEY)?.as_str()?;
    let why = parse_int(text).err()?;
    Some(format!("strconv.ParseInt: parsing {}: {why}", quoted(text)))
}

/// Parse a decimal number of 64 bits as Go's `strconv.ParseInt` does; the error is its reason.
fn parse_int(text: &str) -> Result<i64, &'static str> {
    text.parse().map_err(|why: ParseIntError| match why.kind() {
        IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => "value out of range",
        _ => "invalid syntax",
    })
}

fn prepare_create(object: &mut Value) {
    let generation = generation(object).max(1);
    set_generation(object, generation);
}

/// Ignore the generation that the client sets; increase it with every change of the template.
fn prepare_update(object: &mut Value, old: &Value) {
    let (new, before) = (object.field("spec").field("template"), old.field("spec").field("template"));
    let changed = !internal::same("core.PodTemplateSpec", new, before);
    set_generation(object, generation(old).wrapping_add(i64::from(changed)));
}

/// Keep the generation on writes of the status, as the spec is unchanged.
fn prepare_status(object: &mut Value, old: &Value) {
    set_generation(object, generation(old));
}

/// Set the annotation that decoding and encoding alone add.
fn defaults_of_empty_object(object: &mut Value) {
    if !object.field("metadata").field("annotations").has(KEY) {
        set_generation(object, 0);
    }
}

fn generation(object: &Value) -> i64 {
    object.field("metadata").field("annotations").text(KEY).parse().unwrap_or(0)
}

fn set_generation(object: &mut Value, generation: i64) {
    let annotations = object.make("metadata").make("annotations");
    annotations.put(KEY, generation.to_string());
    if let Some(map) = annotations.as_object_mut() {
        map.sort_keys();
    }
}

fn validate(release: Release, spec: &Value, causes: &mut Causes) {
    let (labels, at) = (spec.field("template").field("metadata").field("labels"), SPEC.child("template"));
    let before = causes.len();
    selector::label_selector(spec.field("selector"), &SPEC.child("selector"), causes);
    if causes.len() == before && !workload::matches(spec.field("selector"), labels) {
        workload::mismatch(labels, &at, causes);
    }
    if let Some(s) = spec.opt("selector").filter(|s| workload::is_empty(s)) {
        let detail = "empty selector is invalid for daemonset";
        causes.invalid_internal(&SPEC.child("selector"), "*meta.LabelSelector", s, detail);
    }
    pod_template::validate::template(release, spec.field("template"), &at, causes);
    workload::always(spec.field("template"), "DaemonSet", &at, causes);
    counts(spec, &["minReadySeconds"], &SPEC, causes);
    strategy(spec.field("updateStrategy"), &SPEC.child("updateStrategy"), causes);
    counts(spec, &["revisionHistoryLimit"], &SPEC, causes);
}

fn strategy(strategy: &Value, path: &Path<'_>, causes: &mut Causes) {
    let at = path.child("rollingUpdate");
    match strategy.text("type") {
        "OnDelete" => {}
        "RollingUpdate" => {
            let Some(rolling) = strategy.opt("rollingUpdate") else { return causes.need(&at) };
            let (unavailable, surge) = (rolling.field("maxUnavailable"), rolling.field("maxSurge"));
            let (unavailable_at, surge_at) = (at.child("maxUnavailable"), at.child("maxSurge"));
            count_or_percent(unavailable, &unavailable_at, causes);
            count_or_percent(surge, &surge_at, causes);
            at_most_all(unavailable, &unavailable_at, causes);
            at_most_all(surge, &surge_at, causes);
            match (plain_number(unavailable) != 0, plain_number(surge) != 0) {
                (true, true) => causes.invalid(&surge_at, surge, "may not be set when maxUnavailable is non-zero"),
                (false, false) => causes.required(&unavailable_at, "cannot be 0 when maxSurge is 0"),
                _ => {}
            }
        }
        _ => workload::unsupported_strategy(
            "apps.DaemonSetUpdateStrategy",
            strategy,
            "\"RollingUpdate\", \"OnDelete\"",
            path,
            causes,
        ),
    }
}

fn validate_update(req: &Request<'_>, object: &Value, old: &Value, causes: &mut Causes) {
    if req.subresource == "status" {
        return validate_status(object.field("status"), old.field("status"), causes);
    }
    workload::same_selector(object.field("spec"), old.field("spec"), &SPEC, causes);
    validate(req.release(), object.field("spec"), causes);
}

/// `validateDaemonSetStatus`.
fn validate_status(new: &Value, old: &Value, causes: &mut Causes) {
    let keys = [
        "currentNumberScheduled",
        "numberMisscheduled",
        "desiredNumberScheduled",
        "numberReady",
        "observedGeneration",
        "updatedNumberScheduled",
        "numberAvailable",
        "numberUnavailable",
        "collisionCount",
    ];
    workload_status::not_negative(new, &keys, causes);
    workload_status::collisions(new, old, causes);
}

/// `printDaemonSet`.
fn row(subject: &Subject<'_>) -> Vec<Value> {
    let (spec, status) = (subject.spec(), subject.status());
    let pod = spec.field("template").field("spec");
    let (names, images) = containers(pod);
    cells![
        subject.name(),
        status.int("desiredNumberScheduled"),
        status.int("currentNumberScheduled"),
        status.int("numberReady"),
        status.int("updatedNumberScheduled"),
        status.int("numberAvailable"),
        table::selector::labels(pod, "nodeSelector"),
        subject.age(),
        names,
        images,
        table::selector::format(spec.field("selector")),
    ]
}
