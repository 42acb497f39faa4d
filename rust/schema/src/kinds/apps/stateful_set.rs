//! Stateful sets (`pkg/registry/apps/statefulset/strategy.go`).

use hydrofoil_types::{Causes, KeySet, Path, SmolStr, Value};

use crate::Request;
use crate::kind::{GenerationRule, NameRule, Strategy};
use crate::kinds::core::persistent_volume_claim;
use hydrofoil_internal::{self as internal, InternalCauses};
use hydrofoil_rules::check::Check;
use hydrofoil_rules::table::text::containers;
use hydrofoil_rules::table::{self, Subject, cells};
use hydrofoil_rules::workload::{self, Words, at_most_all, count_or_percent, counts, plain_number};
use hydrofoil_rules::{Gate, Release};
use hydrofoil_rules::{pod_template, volume_claim, workload_status};
use hydrofoil_types::read::{Read, Write};

const SPEC: Path<'static> = Path::new("spec");

pub(crate) static STRATEGY: Strategy = Strategy {
    name_rule: NameRule::Label,
    has_scale: true,
    has_status: true,
    generation: GenerationRule::of_spec("apps.StatefulSetSpec"),
    default: |release, object, _| default(release, object),
    drop_disabled,
    defaults_of_empty_object: |object| object.object_at_mut(&["spec"]).set("replicas", 0_i64),
    validate: |req, object, causes| validate(req.release(), object.field("spec"), Tolerates::default(), causes),
    validate_update,
    warn_create: |_, object, out| warn(object, out),
    warn_update: |_, object, old, out| warn_update(object, old, out),
    row: Some(row),
    ..Strategy::DEFAULT
};

fn default(release: Release, object: &mut Value) {
    let spec = object.make("spec");
    spec.fill("podManagementPolicy", "OrderedReady");
    let strategy = spec.make("updateStrategy");
    if strategy.zero("type") {
        strategy.put("type", "RollingUpdate");
        strategy.make("rollingUpdate");
    }
    strategy.within("rollingUpdate", |r| {
        r.unset("partition", 0);
        if release.enabled(Gate::MaxUnavailableStatefulSet) {
            r.unset("maxUnavailable", 1);
        }
    });
    let retention = spec.make("persistentVolumeClaimRetentionPolicy");
    retention.fill("whenDeleted", "Retain");
    retention.fill("whenScaled", "Retain");
    spec.unset("replicas", 1);
    spec.unset("revisionHistoryLimit", 10);
    workload::default_template(spec);
    spec.each("volumeClaimTemplates", |claim| {
        persistent_volume_claim::default(claim);
        // The templates are whole objects, so the conversion writes their type.
        claim.put("apiVersion", "v1");
        claim.put("kind", "PersistentVolumeClaim");
    });
}

/// Drop the disabled fields of a stateful set.
fn drop_disabled(release: Release, object: &mut Value, old: Option<&Value>) {
    workload::drop_disabled(release, object, old);
    if !release.enabled(Gate::MaxUnavailableStatefulSet) {
        drop_max_unavailable(object, old);
    }
}

/// Drop the number of pods that may be absent, unless the old object has one.
fn drop_max_unavailable(object: &mut Value, old: Option<&Value>) {
    let used =
        old.is_some_and(|o| o.field("spec").field("updateStrategy").field("rollingUpdate").has("maxUnavailable"));
    if !used {
        object.within("spec", |s| {
            s.within("updateStrategy", |u| u.within("rollingUpdate", |r| r.drop("maxUnavailable")));
        });
    }
}

fn validate(release: Release, spec: &Value, tolerates: Tolerates, causes: &mut Causes) {
    const WORDS: Words = Words { empty: "empty selector is invalid for statefulset", invalid: "", noun: "StatefulSet" };
    let at = SPEC.child("podManagementPolicy");
    match spec.text("podManagementPolicy") {
        "" => causes.need(&at),
        "OrderedReady" | "Parallel" => {}
        other => causes.invalid_str(&at, other, "must be 'OrderedReady' or 'Parallel'"),
    }
    strategy(spec.field("updateStrategy"), &SPEC.child("updateStrategy"), causes);
    retention(spec, causes);
    let at = SPEC.child("volumeClaimTemplates");
    if !tolerates.stored {
        for (i, claim) in spec.list("volumeClaimTemplates").iter().enumerate() {
            volume_claim::validate(claim.field("spec"), &at.index(i).child("spec"), causes);
        }
    }
    counts(spec, &["replicas", "minReadySeconds"], &SPEC, causes);
    let at = SPEC.child("ordinals");
    if let Some(ordinals) = spec.opt("ordinals") {
        causes.not_negative(&at.child("start"), ordinals.int("start"));
    }
    if !tolerates.stored && !spec.zero("serviceName") {
        causes.format(&SPEC.child("serviceName"), spec.text("serviceName"), hydrofoil_rules::format::name::label);
    }
    let mut filled = spec.clone();
    // The controller sets both for each pod.
    filled.make("template").within("spec", |pod| {
        pod.drop("hostname");
        pod.drop("subdomain");
    });
    mount_claims(&mut filled);
    if workload::selector(&filled, &WORDS, &SPEC, causes) {
        let at = SPEC.child("template");
        workload::check_selected(filled.field("template"), filled.field("selector"), &at, causes);
        if !tolerates.template {
            pod_template::validate::template(release, filled.field("template"), &at, causes);
        }
        // Upstream validates these again, also where the template is tolerated.
        pod_template::validate::template_metadata(release, filled.field("template"), &at, causes);
    }
    workload::always(spec.field("template"), WORDS.noun, &SPEC.child("template"), causes);
}

/// The invalid parts that an update of a stateful set tolerates.
#[derive(Clone, Copy, Default)]
struct Tolerates {
    /// The immutable fields, which older servers accepted in other forms.
    stored: bool,
    /// A template that was invalid before.
    template: bool,
}

/// Add the claims to the volumes of the pods, in front of those of the template.
fn mount_claims(spec: &mut Value) {
    let mut claims: Vec<Value> =
        spec.list("volumeClaimTemplates").iter().map(|c| Value::from(c.field("metadata").text("name"))).collect();
    if claims.is_empty() {
        return;
    }
    let mut seen = KeySet::default();
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
    let own = |v: &&Value| !seen.contains(&SmolStr::new(v.text("name")));
    volumes.extend(pod.list("volumes").iter().filter(own).cloned());
    pod.put("volumes", volumes);
}

fn strategy(strategy: &Value, path: &Path<'_>, causes: &mut Causes) {
    let at = path.child("rollingUpdate");
    match strategy.text("type") {
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
        causes.one_of(&at.child(key), policy.text(key), &["Retain", "Delete"]);
    }
}

fn validate_update(req: &Request<'_>, object: &Value, old: &Value, causes: &mut Causes) {
    const MUTABLE: [&str; 7] = [
        "replicas",
        "template",
        "updateStrategy",
        "revisionHistoryLimit",
        "minReadySeconds",
        "ordinals",
        "persistentVolumeClaimRetentionPolicy",
    ];
    if req.subresource == "status" {
        return validate_status(object.field("status"), old.field("status"), causes);
    }
    let (new, old) = (object.field("spec"), old.field("spec"));
    let mut tolerates = Tolerates { stored: true, template: false };
    let mut found = Causes::new();
    validate(req.release(), old, tolerates, &mut found);
    tolerates.template = !found.is_empty();
    validate(req.release(), new, tolerates, causes);
    let mut munged = new.clone();
    for key in MUTABLE {
        munged.copy_from(old, key);
    }
    if !internal::same("apps.StatefulSetSpec", &munged, old) {
        let detail = "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
        causes.forbidden(&SPEC, detail);
    }
}

/// `ValidateStatefulSetStatus`.
fn validate_status(new: &Value, old: &Value, causes: &mut Causes) {
    let keys = [
        "replicas",
        "readyReplicas",
        "currentReplicas",
        "updatedReplicas",
        "availableReplicas",
        "observedGeneration",
        "collisionCount",
    ];
    workload_status::not_negative(new, &keys, causes);
    let keys = ["readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"];
    workload_status::within_replicas(new, &keys, causes);
    workload_status::available(new, "cannot be greater than status.readyReplicas", causes);
    workload_status::collisions(new, old, causes);
}

fn warn(object: &Value, out: &mut Vec<String>) {
    workload::warn(object, out);
    warn_spec(object.field("spec"), out);
}

fn warn_update(object: &Value, old: &Value, out: &mut Vec<String>) {
    workload::warn_update(object, old, out);
    warn_spec(object.field("spec"), out);
}

/// Warn of the claims and of the limit of the history.
fn warn_spec(spec: &Value, out: &mut Vec<String>) {
    let path = Path::new("spec");
    let path = path.child("volumeClaimTemplates");
    for (i, template) in spec.list("volumeClaimTemplates").iter().enumerate() {
        volume_claim::warn(template.field("spec"), &path.index(i), out);
    }
    if spec.int("revisionHistoryLimit") < 0 {
        out.push(
            "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended"
                .into(),
        );
    }
}

/// `printStatefulSet`.
fn row(subject: &Subject<'_>) -> Vec<Value> {
    let (names, images) = containers(subject.spec().field("template").field("spec"));
    cells![subject.name(), table::text::ready(subject), subject.age(), names, images]
}
