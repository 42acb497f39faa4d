//! Device taint rules (`pkg/registry/resource/devicetaintrule/strategy.go`).

use hydrofoil_types::{Causes, Path, Timestamp, Value};

use super::{names, taint};
use crate::kind::{GenerationRule, Request, Strategy, reset_metadata};
use hydrofoil_rules::check::Check;
use hydrofoil_rules::conditions;
use hydrofoil_rules::format::name;
use hydrofoil_rules::table::{Subject, cells};
use hydrofoil_types::read::{Read, Write, same_field};

const SPEC: Path<'static> = Path::new("spec");
const MOST_CONDITIONS: usize = 8;

pub(crate) static STRATEGY: Strategy = Strategy {
    returns_deleted_object: true,
    has_status: true,
    status_resets_metadata: true,
    reset_fields: reset_metadata,
    generation: GenerationRule::of(|new, old| !same_field(new, old, "spec")),
    default: |_, object, now| default(object, now),
    age_update: age,
    validate: |_, object, causes| validate(object, None, causes),
    validate_update,
    row: Some(row),
    ..Strategy::DEFAULT
};

fn default(object: &mut Value, now: Timestamp) {
    object.within("spec", |s| s.within("taint", |t| taint::default(t, now)));
}

/// A taint with another effect is added at the present time.
fn age(object: &mut Value, old: &Value, now: Timestamp) {
    let before = old.field("spec").field("taint");
    object.within("spec", |spec| {
        spec.within("taint", |taint| {
            if !same_field(taint, before, "effect") && same_field(taint, before, "timeAdded") {
                taint.put("timeAdded", now.rfc3339());
            }
        });
    });
}

/// `validateDeviceTaintRuleSpec`.
fn validate(object: &Value, old: Option<&Value>, causes: &mut Causes) {
    let spec = object.field("spec");
    let at = SPEC.child("deviceSelector");
    if let Some(selector) = spec.opt("deviceSelector") {
        let text = |key| selector.opt(key).map(|v| v.as_str().unwrap_or(""));
        if let Some(driver) = text("driver") {
            names::driver(driver, &at.child("driver"), causes);
        }
        if let Some(pool) = text("pool") {
            names::pool(pool, &at.child("pool"), causes);
        }
        if let Some(device) = text("device") {
            causes.format(&at.child("device"), device, name::label);
        }
    }
    let (taint, at) = (spec.field("taint"), SPEC.child("taint"));
    taint::validate(taint, &at, causes);
    if !old.is_some_and(|o| same_field(o.field("spec").field("taint"), taint, "effect")) {
        taint::effect(taint, &at, causes);
    }
}

/// `ValidateDeviceTaintRuleUpdate` and `ValidateDeviceTaintRuleStatusUpdate`.
fn validate_update(req: &Request<'_>, object: &Value, old: &Value, causes: &mut Causes) {
    if req.subresource != "status" {
        return validate(object, Some(old), causes);
    }
    let path = Path::new("status");
    let at = path.child("conditions");
    let list = object.field("status").list("conditions");
    conditions::conditions(list, &at, causes);
    if list.len() > MOST_CONDITIONS {
        causes.too_many(&at, list.len(), MOST_CONDITIONS);
    }
}

/// `printDeviceTaint`.
fn row(subject: &Subject<'_>) -> Vec<Value> {
    let taint = subject.spec().field("taint");
    let added = taint.opt("timeAdded").map_or_else(String::new, |t| subject.since(t.as_str().unwrap_or("")));
    cells![subject.name(), taint.text("key"), taint.text("value"), taint.text("effect"), added, subject.age()]
}
