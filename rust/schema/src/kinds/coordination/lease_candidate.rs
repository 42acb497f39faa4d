//! Lease candidates (`pkg/registry/coordination/leasecandidate/strategy.go`).

use hydrofoil_types::{Causes, Path, Value};

use super::lease;
use crate::kind::{MetadataOrder, Strategy};
use hydrofoil_internal::InternalCauses;
use hydrofoil_rules::check::Check;
use hydrofoil_rules::format::name;
use hydrofoil_rules::format::version::Version;
use hydrofoil_rules::meta;
use hydrofoil_rules::table::{Subject, cells};
use hydrofoil_types::read::Read;

const SPEC: Path<'static> = Path::new("spec");

pub(crate) static STRATEGY: Strategy = Strategy {
    allow_create_on_update: true,
    allow_unconditional_update: false,
    metadata_order: MetadataOrder::Own,
    kube_finalizers: false,
    validate: |req, object, causes| {
        meta::create_named(req.kind, object, &Path::new("metadata"), name::config_key, causes);
        validate(object.field("spec"), causes);
    },
    validate_update: |_, object, old, causes| {
        let (spec, before) = (object.field("spec"), old.field("spec"));
        validate(spec, causes);
        causes.immutable_internal(&SPEC.child("leaseName"), "s", spec.field("leaseName"), before.field("leaseName"));
    },
    row: Some(row),
    ..Strategy::DEFAULT
};

/// `ValidateLeaseCandidateSpec`.
fn validate(spec: &Value, causes: &mut Causes) {
    if spec.zero("leaseName") {
        causes.need(&SPEC.child("leaseName"));
    }
    let emulated = version(spec, "emulationVersion", causes);
    let own = version(spec, "binaryVersion", causes);
    let at = SPEC.child("binaryVersion");
    if spec.zero("binaryVersion") {
        causes.need(&at);
    } else if !spec.zero("emulationVersion") && own.compare(&emulated).is_lt() {
        let detail = "must be greater than or equal to `emulationVersion`";
        causes.invalid_str(&at, spec.text("binaryVersion"), detail);
    }
    let strategy = spec.text("strategy");
    let at = SPEC.child("strategy");
    if strategy.is_empty() {
        return causes.need(&at);
    }
    if strategy == lease::OLDEST && emulated.compare(&Version::default()).is_eq() {
        let detail = "must be specified when `strategy` is 'OldestEmulationVersion'";
        causes.required(&SPEC.child("emulationVersion"), detail);
    }
    lease::strategy(strategy, &at, causes);
}

/// Read a version; an invalid one counts as the least.
fn version<'a>(spec: &'a Value, key: &'static str, causes: &mut Causes) -> Version<'a> {
    let text = spec.text(key);
    let read = Version::parse(text);
    if read.is_none() && !text.is_empty() {
        causes.invalid_str(&SPEC.child(key), text, "must be a valid semantic version");
    }
    read.unwrap_or_default()
}

/// `printLeaseCandidate`.
fn row(subject: &Subject<'_>) -> Vec<Value> {
    let spec = subject.spec();
    cells![
        subject.name(),
        spec.text("leaseName"),
        spec.text("binaryVersion"),
        spec.text("emulationVersion"),
        subject.age()
    ]
}
