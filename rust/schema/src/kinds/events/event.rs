//! Events of `events.k8s.io`, which are those of the core group under other names.

use hydrofoil_types::{Causes, Path, Value};

use crate::Request;
use crate::kind::{Conversion, MetadataOrder, Strategy};
use crate::kinds::core::event::validate::{Names, legacy, series};
use crate::kinds::core::event::{self, table};
use hydrofoil_internal::InternalCauses;
use hydrofoil_rules::check::Check;
use hydrofoil_rules::meta;
use hydrofoil_types::read::{Read, same_field};

pub(crate) static STRATEGY: Strategy = Strategy {
    allow_create_on_update: true,
    storage: Some(Conversion { up, down }),
    metadata_order: MetadataOrder::Own,
    validate,
    validate_update,
    row: Some(|of| table::row(of, &PRINTED)),
    field_value: event::field_value,
    ..Strategy::DEFAULT
};

/// The names of the fields in the rules of both groups.
const NAMES: Names = Names { object: "regarding", message: "note", controller: "reportingController" };

/// The names of the fields that the printer reads.
const PRINTED: table::Names = table::Names {
    first: "deprecatedFirstTimestamp",
    last: "deprecatedLastTimestamp",
    count: "deprecatedCount",
    object: "regarding",
    source: "deprecatedSource",
    message: "note",
    controller: "reportingController",
};

/// `ValidateEventCreate` of `events.k8s.io/v1`.
fn validate(req: &Request<'_>, object: &Value, causes: &mut Causes) {
    legacy(object, &NAMES, causes);
    meta::create(req.kind, object, causes);
    series(object, causes);
    if object.zero("eventTime") {
        causes.need(&Path::new("eventTime"));
    }
    if !matches!(object.text("type"), "Normal" | "Warning") {
        causes.invalid_str(&Path::new("type"), "", &format!("has invalid value: {}", object.text("type")));
    }
    for (key, shown) in [("deprecatedFirstTimestamp", "firstTimestamp"), ("deprecatedLastTimestamp", "lastTimestamp")] {
        if object.has(key) {
            causes.invalid_str(&Path::new(shown), "", "needs to be unset");
        }
    }
    if object.int("deprecatedCount") != 0 {
        causes.invalid_str(&Path::new("count"), "", "needs to be unset");
    }
    let source = object.field("deprecatedSource");
    if !source.zero("component") || !source.zero("host") {
        causes.invalid_str(&Path::new("source"), "", "needs to be unset");
    }
}

/// `ValidateEventUpdate` of `events.k8s.io/v1`.
fn validate_update(_req: &Request<'_>, object: &Value, old: &Value, causes: &mut Causes) {
    legacy(object, &NAMES, causes);
    if object.has("series") != old.has("series") || !same_field(object, old, "series") {
        series(object, causes);
    }
    for (key, shown, shape) in [
        ("regarding", "involvedObject", "core.ObjectReference"),
        ("reason", "reason", "s"),
        ("note", "message", "s"),
        ("deprecatedSource", "source", "core.EventSource"),
        ("deprecatedFirstTimestamp", "firstTimestamp", "t"),
        ("deprecatedLastTimestamp", "lastTimestamp", "t"),
        ("deprecatedCount", "count", "i"),
        // Upstream validates the reason twice.
        ("reason", "reason", "s"),
        ("type", "type", "s"),
        ("eventTime", "eventTime", "t"),
        ("action", "action", "s"),
        ("related", "related", "*core.ObjectReference"),
        ("reportingController", "reportingController", "s"),
        ("reportingInstance", "reportingInstance", "s"),
    ] {
        causes.immutable_internal(&Path::new(shown), shape, object.field(key), old.field(key));
    }
}

/// The members of `events.k8s.io` and their names in the core group.
const EVENT: [(&str, &str); 6] = [
    ("regarding", "involvedObject"),
    ("note", "message"),
    ("deprecatedSource", "source"),
    ("deprecatedFirstTimestamp", "firstTimestamp"),
    ("deprecatedLastTimestamp", "lastTimestamp"),
    ("deprecatedCount", "count"),
];

/// Convert an event of `events.k8s.io` to one of the core group.
fn up(object: &mut Value) {
    rename(object, EVENT.iter().map(|(new, old)| (*new, *old)));
}

/// Convert an event of the core group to one of `events.k8s.io`.
fn down(object: &mut Value) {
    rename(object, EVENT.iter().map(|(new, old)| (*old, *new)));
}

fn rename<'a>(object: &mut Value, names: impl Iterator<Item = (&'a str, &'a str)>) {
    let Some(map) = object.as_object_mut() else { return };
    for (from, to) in names {
        if let Some(value) = map.remove(from) {
            map.set(to, value);
        }
    }
    for both in [("reportingController", "reportingComponent"), ("reportingComponent", "reportingController")] {
        // Either name exists in its own version only; the schema of the other drops it.
        if let Some(value) = map.get(both.0).cloned().filter(|_| !map.contains_key(both.1)) {
            map.set(both.1, value);
        }
    }
}
