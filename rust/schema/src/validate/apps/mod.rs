//! Workloads (`pkg/apis/apps/validation/validation.go`).

mod status;

use hydrofoil_types::{CauseReason, Causes, Path, Seen, SmolStr, Value};

use super::check::{Check, IMMUTABLE};
use super::workload::{self, Words, at_most_all, count_or_percent, counts, plain_number};
use super::{meta, selector};
use crate::internal::InternalCauses;
use crate::read::{Read, Write};
use crate::{Request, internal};

const SPEC: Path<'static> = Path::new("spec");

pub(crate) fn create(req: &Request<'_>, object: &Value, causes: &mut Causes) {
    meta::create(req.kind, object, causes);
    spec(&req.kind.kind, object, causes);
}

fn spec(kind: &str, object: &Value, causes: &mut Causes) {
    let spec = object.sub("spec");
    match kind {
        "Deployment" => deployment(spec, causes),
        "ReplicaSet" => replica_set(spec, causes),
        "DaemonSet" => daemon_set(spec, causes),
        "StatefulSet" => stateful_set(spec, Tolerates::default(), causes),
        "ReplicationController" => controller(spec, causes),
        _ => {
            causes.not_negative(&Path::new("revision"), object.i("revision"));
            match object.opt("data") {
                None => causes.required(&Path::new("data"), "data is mandatory"),
                Some(Value::Raw(text)) if text.starts_with('{') => {}
                Some(_) => causes.required(&Path::new("data"), "data must be a valid JSON object"),
            }
        }
    }
}

pub(crate) fn update(req: &Request<'_>, object: &Value, old: &Value, causes: &mut Causes) {
    let kind = req.kind.kind.as_str();
    if req.subresource == "status" {
        return status::update(kind, object.sub("status"), old.sub("status"), causes);
    }
    let (new, before) = (object.sub("spec"), old.sub("spec"));
    match kind {
        "StatefulSet" => stateful_update(new, before, causes),
        "DaemonSet" => {
            workload::same_selector(new, before, &SPEC, causes);
            spec(kind, object, causes);
        }
        "ControllerRevision" => {
            causes.not_negative(&Path::new("revision"), object.i("revision"));
            if object.sub("data") != old.sub("data") {
                causes.invalid(&Path::new("data"), object.sub("data"), IMMUTABLE);
            }
        }
        "ReplicationController" => spec(kind, object, causes),
        _ => {
            spec(kind, object, causes);
            workload::same_selector(new, before, &SPEC, causes);
        }
    }
}

fn deployment(spec: &Value, causes: &mut Causes) {
    const WORDS: Words = Words {
        empty: "empty selector is invalid for deployment",
        invalid: "invalid label selector",
        noun: "ReplicaSet",
    };
    counts(spec, &["replicas"], &SPEC, causes);
    workload::selected_template(spec, &WORDS, &SPEC, causes);
    strategy(spec.sub("strategy"), &SPEC.child("strategy"), causes);
    counts(spec, &["minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"], &SPEC, causes);
    if let Some(deadline) = spec.oi("progressDeadlineSeconds")
        && deadline <= spec.i("minReadySeconds")
    {
        causes.invalid_int(&SPEC.child("progressDeadlineSeconds"), deadline, "must be greater than minReadySeconds");
    }
}

fn strategy(strategy: &Value, path: &Path<'_>, causes: &mut Causes) {
    let at = path.child("rollingUpdate");
    match strategy.s("type") {
        "Recreate" => {
            if strategy.has("rollingUpdate") {
                causes.forbidden(&at, "may not be specified when strategy `type` is 'Recreate'");
            }
        }
        "RollingUpdate" => {
            let Some(rolling) = strategy.opt("rollingUpdate") else {
                return causes.required(&at, "this should be defaulted and never be nil");
            };
            let (unavailable, surge) = (rolling.sub("maxUnavailable"), rolling.sub("maxSurge"));
            count_or_percent(unavailable, &at.child("maxUnavailable"), causes);
            count_or_percent(surge, &at.child("maxSurge"), causes);
            if plain_number(unavailable) == 0 && plain_number(surge) == 0 {
                causes.invalid(&at.child("maxUnavailable"), unavailable, "may not be 0 when `maxSurge` is 0");
            }
            at_most_all(unavailable, &at.child("maxUnavailable"), causes);
        }
        _ => unsupported("apps.DeploymentStrategy", strategy, "\"Recreate\", \"RollingUpdate\"", path, causes),
    }
}

/// A strategy of no known type, shown whole.
fn unsupported(shape: &str, strategy: &Value, known: &str, path: &Path<'_>, causes: &mut Causes) {
    let message = format!("Unsupported value: {}: supported values: {known}", internal::json(shape, strategy));
    causes.push(path, CauseReason::NotSupported, message);
}

fn replica_set(spec: &Value, causes: &mut Causes) {
    const WORDS: Words = Words {
        empty: "empty selector is invalid for deployment",
        invalid: "invalid label selector",
        noun: "ReplicaSet",
    };
    counts(spec, &["replicas", "minReadySeconds"], &SPEC, causes);
    workload::selected_template(spec, &WORDS, &SPEC, causes);
}

fn controller(spec: &Value, causes: &mut Causes) {
    counts(spec, &["minReadySeconds"], &SPEC, causes);
    if spec.zero("selector") {
        causes.need(&SPEC.child("selector"));
    }
    match spec.oi("replicas") {
        None => causes.need(&SPEC.child("replicas")),
        Some(n) => causes.not_negative(&SPEC.child("replicas"), n),
    }
    let at = SPEC.child("template");
    let Some(template) = spec.opt("template") else { return causes.need(&at) };
    let labels = template.sub("metadata").sub("labels");
    if !spec.entries("selector").all(|(k, v)| labels.get(k) == Some(v)) {
        workload::mismatch(labels, &at, causes);
    }
    super::pod::template(template, &at, causes);
    workload::always(template, "ReplicationController", &at, causes);
}

fn daemon_set(spec: &Value, causes: &mut Causes) {
    let (labels, at) = (spec.sub("template").sub("metadata").sub("labels"), SPEC.child("template"));
    let before = causes.len();
    selector::label_selector(spec.sub("selector"), &SPEC.child("selector"), causes);
    if causes.len() == before && !workload::matches(spec.sub("selector"), labels) {
        workload::mismatch(labels, &at, causes);
    }
    if let Some(s) = spec.opt("selector").filter(|s| workload::is_empty(s)) {
        let detail = "empty selector is invalid for daemonset";
        causes.invalid_internal(&SPEC.child("selector"), "*meta.LabelSelector", s, detail);
    }
    super::pod::template(spec.sub("template"), &at, causes);
    workload::always(spec.sub("template"), "DaemonSet", &at, causes);
    counts(spec, &["minReadySeconds"], &SPEC, causes);
    daemon_strategy(spec.sub("updateStrategy"), &SPEC.child("updateStrategy"), causes);
    counts(spec, &["revisionHistoryLimit"], &SPEC, causes);
}

fn daemon_strategy(strategy: &Value, path: &Path<'_>, causes: &mut Causes) {
    let at = path.child("rollingUpdate");
    match strategy.s("type") {
        "OnDelete" => {}
        "RollingUpdate" => {
            let Some(rolling) = strategy.opt("rollingUpdate") else { return causes.need(&at) };
            let (unavailable, surge) = (rolling.sub("maxUnavailable"), rolling.sub("maxSurge"));
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
        _ => unsupported("apps.DaemonSetUpdateStrategy", strategy, "\"RollingUpdate\", \"OnDelete\"", path, causes),
    }
}

fn stateful_set(spec: &Value, tolerates: Tolerates, causes: &mut Causes) {
    const WORDS: Words = Words { empty: "empty selector is invalid for statefulset", invalid: "", noun: "StatefulSet" };
    let at = SPEC.child("podManagementPolicy");
    match spec.s("podManagementPolicy") {
        "" => causes.need(&at),
        "OrderedReady" | "Parallel" => {}
        other => causes.invalid_str(&at, other, "must be 'OrderedReady' or 'Parallel'"),
    }
    stateful_strategy(spec.sub("updateStrategy"), &SPEC.child("updateStrategy"), causes);
    retention(spec, causes);
    let at = SPEC.child("volumeClaimTemplates");
    if !tolerates.stored {
        for (i, claim) in spec.list("volumeClaimTemplates").iter().enumerate() {
            super::core::claim::spec(claim.sub("spec"), &at.index(i).child("spec"), causes);
        }
    }
    counts(spec, &["replicas", "minReadySeconds"], &SPEC, causes);
    let at = SPEC.child("ordinals");
    if let Some(ordinals) = spec.opt("ordinals") {
        causes.not_negative(&at.child("start"), ordinals.i("start"));
    }
    if !tolerates.stored && !spec.zero("serviceName") {
        causes.format(&SPEC.child("serviceName"), spec.s("serviceName"), super::format::name::label);
    }
    let mut filled = spec.clone();
    // The controller sets both for each pod.
    filled.make("template").within("spec", |pod| {
        pod.drop("hostname");
        pod.drop("subdomain");
    });
    mounted(&mut filled);
    if workload::selector(&filled, &WORDS, &SPEC, causes) {
        let at = SPEC.child("template");
        workload::selected(filled.sub("template"), filled.sub("selector"), &at, causes);
        if !tolerates.template {
            super::pod::template(filled.sub("template"), &at, causes);
        }
        // Upstream looks at these again, also where the template is let be.
        super::pod::template_metadata(filled.sub("template"), &at, causes);
    }
    workload::always(spec.sub("template"), WORDS.noun, &SPEC.child("template"), causes);
    counts(spec, &["revisionHistoryLimit"], &SPEC, causes);
}

/// What an update of a stateful set takes as it finds it.
#[derive(Clone, Copy, Default)]
struct Tolerates {
    /// The immutable fields, which older servers took in other forms.
    stored: bool,
    /// A template that was wrong before.
    template: bool,
}

/// The claims become volumes of the pods, in front of those of the template.
fn mounted(spec: &mut Value) {
    let mut claims: Vec<Value> =
        spec.list("volumeClaimTemplates").iter().map(|c| Value::from(c.sub("metadata").s("name"))).collect();
    if claims.is_empty() {
        return;
    }
    let mut seen = Seen::default();
    claims.retain(|c| seen.insert(SmolStr::new(c.as_str().unwrap_or(""))));
    let pod = spec.make("template").make("spec");
    let mut volumes: Vec<Value> = claims
        .iter()
        .map(|name| {
            let mut claim = Value::object();
            claim.put("claimName", name.clone());
            let mut volume = Value::object();
            volume.put("name", name.clone());
            volume.put("persistentVolumeClaim", claim);
            volume
        })
        .collect();
    let own = |v: &&Value| !seen.contains(&SmolStr::new(v.s("name")));
    volumes.extend(pod.list("volumes").iter().filter(own).cloned());
    pod.put("volumes", volumes);
}

fn stateful_strategy(strategy: &Value, path: &Path<'_>, causes: &mut Causes) {
    let at = path.child("rollingUpdate");
    match strategy.s("type") {
        "" => causes.need(path),
        "OnDelete" => {
            if let Some(rolling) = strategy.opt("rollingUpdate") {
                let detail = "only allowed for updateStrategy 'RollingUpdate'";
                causes.invalid_internal(&at, "apps.RollingUpdateStatefulSetStrategy", rolling, detail);
            }
        }
        "RollingUpdate" => {
            let Some(rolling) = strategy.opt("rollingUpdate") else { return };
            counts(rolling, &["partition"], &at, causes);
            if let Some(unavailable) = rolling.opt("maxUnavailable") {
                let at = at.child("maxUnavailable");
                count_or_percent(unavailable, &at, causes);
                if plain_number(unavailable) == 0 {
                    causes.invalid(&at, unavailable, "cannot be 0");
                }
                at_most_all(unavailable, &at, causes);
            }
        }
        _ => {
            let detail = "must be 'RollingUpdate' or 'OnDelete'";
            causes.invalid_internal(path, "apps.StatefulSetUpdateStrategy", strategy, detail);
        }
    }
}

fn retention(spec: &Value, causes: &mut Causes) {
    let Some(policy) = spec.opt("persistentVolumeClaimRetentionPolicy") else { return };
    let at = SPEC.child("persistentVolumeClaimRetentionPolicy");
    for key in ["whenDeleted", "whenScaled"] {
        causes.one_of(&at.child(key), policy.s(key), &["Retain", "Delete"]);
    }
}

fn stateful_update(new: &Value, old: &Value, causes: &mut Causes) {
    const MUTABLE: [&str; 7] = [
        "replicas",
        "template",
        "updateStrategy",
        "revisionHistoryLimit",
        "minReadySeconds",
        "ordinals",
        "persistentVolumeClaimRetentionPolicy",
    ];
    let mut tolerates = Tolerates { stored: true, template: false };
    let mut found = Causes::new();
    stateful_set(old, tolerates, &mut found);
    tolerates.template = !found.is_empty();
    stateful_set(new, tolerates, causes);
    let mut munged = new.clone();
    for key in MUTABLE {
        munged.copy_from(old, key);
    }
    if !internal::same("apps.StatefulSetSpec", &munged, old) {
        let detail = "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
        causes.forbidden(&SPEC, detail);
    }
}
