//! CSI drivers (`pkg/registry/storage/csidriver/strategy.go`).

use hydrofoil_types::{Causes, Duplicates, Path, Value};

use crate::kind::{GenerationRule, Strategy};
use hydrofoil_rules::check::{Check, IMMUTABLE};
use hydrofoil_rules::gates;
use hydrofoil_rules::table::text::{join, or};
use hydrofoil_rules::table::{Subject, cells};
use hydrofoil_rules::{Gate, Release};
use hydrofoil_types::read::{Read, Write};

pub(crate) static STRATEGY: Strategy = Strategy {
    allow_unconditional_update: false,
    returns_deleted_object: true,
    generation: GenerationRule { on_create: false, ..GenerationRule::of_spec("storage.CSIDriverSpec") },
    default: |release, object, _| default(release, object),
    drop_disabled,
    validate: |_, object, causes| validate(object, causes),
    validate_update: |_, object, old, causes| validate_update(object, old, causes),
    warn_create: |_, object, out| warn(object, &Value::Null, out),
    warn_update: |_, object, old, out| warn(object, old, out),
    row: Some(row),
    ..Strategy::DEFAULT
};

const SPEC: Path<'static> = Path::new("spec");

fn default(release: Release, object: &mut Value) {
    let spec = object.make("spec");
    spec.unset("attachRequired", true);
    for key in ["podInfoOnMount", "storageCapacity", "requiresRepublish", "seLinuxMount"] {
        spec.unset(key, false);
    }
    if release.enabled(Gate::VolumeLimitScaling) {
        spec.unset("preventPodSchedulingIfMissing", false);
    }
    spec.unset("fsGroupPolicy", "ReadWriteOnceWithFSType");
    if spec.list("volumeLifecycleModes").is_empty() {
        spec.put("volumeLifecycleModes", vec![Value::from("Persistent")]);
    }
}

/// Fields and the gates that they need.
const FIELDS: [(Gate, &str); 2] =
    [(Gate::CSIVolumeHealth, "volumeHealth"), (Gate::VolumeLimitScaling, "preventPodSchedulingIfMissing")];

/// Drop the disabled fields of a CSI driver.
fn drop_disabled(release: Release, object: &mut Value, old: Option<&Value>) {
    for (gate, key) in FIELDS {
        if !release.enabled(gate) {
            gates::drop_unused(object, old, &[key]);
        }
    }
}

/// `ValidateCSIDriver`.
fn validate(object: &Value, causes: &mut Causes) {
    let spec = object.field("spec");
    for (key, shown) in [
        ("attachRequired", "attachedRequired"),
        ("podInfoOnMount", "podInfoOnMount"),
        ("storageCapacity", "storageCapacity"),
    ] {
        if !spec.has(key) {
            causes.need(&SPEC.child(shown));
        }
    }
    let at = SPEC.child("fsGroupPolicy");
    match spec.opt("fsGroupPolicy") {
        None => causes.need(&at),
        Some(policy) => {
            causes.one_of(&at, policy.as_str().unwrap_or(""), &["File", "None", "ReadWriteOnceWithFSType"]);
        }
    }
    let at = SPEC.child("tokenRequests");
    let requests = spec.list("tokenRequests");
    let duplicates = Duplicates::of(requests, |v| v.text("audience"));
    for (i, request) in requests.iter().enumerate() {
        let at = at.index(i);
        if duplicates.is_repeat(i) {
            causes.duplicate_str(&at.child("audience"), request.text("audience"));
            continue;
        }
        if let Some(seconds) = request.opt_int("expirationSeconds") {
            let at = at.child("expirationSeconds");
            if seconds < 600 {
                causes.invalid_int(&at, seconds, "may not specify a duration less than 10 minutes");
            }
            if seconds > 1 << 32 {
                causes.invalid_int(&at, seconds, "may not specify a duration larger than 2^32 seconds");
            }
        }
    }
    for mode in spec.list("volumeLifecycleModes") {
        let mode = mode.as_str().unwrap_or("");
        causes.one_of(&SPEC.child("volumeLifecycleModes"), mode, &["Persistent", "Ephemeral"]);
    }
    if let Some(seconds) = spec.opt_int("nodeAllocatableUpdatePeriodSeconds").filter(|s| *s < 10) {
        let detail = "must be greater than or equal to 10 seconds";
        causes.invalid_int(&SPEC.child("nodeAllocatableUpdatePeriodSeconds"), seconds, detail);
    }
    if let Some(set) = spec.opt("serviceAccountTokenInSecrets").filter(|_| requests.is_empty()) {
        let detail = "serviceAccountTokenInSecrets is set but no tokenRequests are specified";
        causes.invalid(&SPEC.child("serviceAccountTokenInSecrets"), set, detail);
    }
}

/// `ValidateCSIDriverUpdate`.
fn validate_update(object: &Value, old: &Value, causes: &mut Causes) {
    validate(object, causes);
    let (new, before) = (object.field("spec"), old.field("spec"));
    for (key, shown) in [("attachRequired", "attachedRequired"), ("volumeLifecycleModes", "volumeLifecycleModes")] {
        if new.field(key) != before.field(key) {
            causes.invalid(&SPEC.child(shown), new.field(key), IMMUTABLE);
        }
    }
}

/// Warn of tokens that an update requests and that should be passed as secrets.
fn warn(object: &Value, old: &Value, out: &mut Vec<String>) {
    let (spec, before) = (object.field("spec"), old.field("spec"));
    let asked = spec.list("tokenRequests");
    if !asked.is_empty() && asked != before.list("tokenRequests") && !spec.has("serviceAccountTokenInSecrets") {
        out.push(
            "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent \
             possible logging of tokens in volume attributes"
                .into(),
        );
    }
}

/// `printCSIDriver`.
fn row(subject: &Subject<'_>) -> Vec<Value> {
    let spec = subject.spec();
    // An empty list becomes an absent one in the store.
    let audiences = match spec.list("tokenRequests") {
        [] => "<unset>".to_owned(),
        list => list.iter().map(|t| t.text("audience")).collect::<Vec<_>>().join(","),
    };
    let modes = join(spec.list("volumeLifecycleModes"), ",");
    cells![
        subject.name(),
        spec.get("attachRequired").and_then(Value::as_bool).unwrap_or(true),
        spec.flag("podInfoOnMount"),
        spec.flag("storageCapacity"),
        audiences,
        spec.flag("requiresRepublish"),
        or(&modes, "<none>"),
        subject.age(),
    ]
}
