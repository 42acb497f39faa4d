//! Events of both groups (`pkg/apis/core/validation/events.go`).

use hydrofoil_types::{Causes, Path, Value};

use crate::Request;
use crate::internal::InternalCauses;
use crate::read::{Read, same_field};
use crate::validate::check::Check;
use crate::validate::format::{label, name};
use crate::validate::meta;

/// How a group names the fields of an event.
struct Names {
    object: &'static str,
    message: &'static str,
    controller: &'static str,
}

fn names(req: &Request<'_>) -> Names {
    if req.kind.group.is_empty() {
        Names { object: "involvedObject", message: "message", controller: "reportingComponent" }
    } else {
        Names { object: "regarding", message: "note", controller: "reportingController" }
    }
}

pub(crate) fn create(req: &Request<'_>, object: &Value, causes: &mut Causes) {
    let names = names(req);
    legacy(object, &names, causes);
    if req.kind.group.is_empty() {
        // Only BeforeCreate itself looks at the whole metadata, and it comes after the strategy.
        if causes.is_empty() {
            meta::common_create(req.kind, object, causes);
        }
        return;
    }
    // ValidateEventCreate for events.k8s.io/v1.
    meta::create(req.kind, object, causes);
    series(object, causes);
    if object.zero("eventTime") {
        causes.need(&Path::new("eventTime"));
    }
    if !matches!(object.s("type"), "Normal" | "Warning") {
        causes.invalid_str(&Path::new("type"), "", &format!("has invalid value: {}", object.s("type")));
    }
    for (key, shown) in [("deprecatedFirstTimestamp", "firstTimestamp"), ("deprecatedLastTimestamp", "lastTimestamp")] {
        if object.has(key) {
            causes.invalid_str(&Path::new(shown), "", "needs to be unset");
        }
    }
    if object.i("deprecatedCount") != 0 {
        causes.invalid_str(&Path::new("count"), "", "needs to be unset");
    }
    let source = object.sub("deprecatedSource");
    if !source.zero("component") || !source.zero("host") {
        causes.invalid_str(&Path::new("source"), "", "needs to be unset");
    }
}

fn series(object: &Value, causes: &mut Causes) {
    let Some(series) = object.opt("series") else { return };
    if series.i("count") < 2 {
        causes.invalid_str(&Path::new("series.count"), "", "should be at least 2");
    }
    if series.zero("lastObservedTime") {
        causes.need(&Path::new("series.lastObservedTime"));
    }
}

/// `legacyValidateEvent`. The paths are those of the internal type, but for the controller.
fn legacy(object: &Value, names: &Names, causes: &mut Causes) {
    let namespace = object.sub("metadata").s("namespace");
    let about = object.sub(names.object).s("namespace");
    let involved = Path::new("involvedObject");
    let mismatch = |causes: &mut Causes| {
        causes.invalid_str(&involved.child("namespace"), about, "does not match event.namespace");
    };
    if object.zero("eventTime") {
        if about.is_empty() {
            if !namespace.is_empty() && namespace != "default" {
                mismatch(causes);
            }
        } else if namespace != about {
            mismatch(causes);
        }
    } else {
        if about.is_empty() && namespace != "default" && namespace != "kube-system" {
            mismatch(causes);
        }
        let at = Path::new(names.controller);
        if object.zero(names.controller) {
            causes.need(&at);
        }
        causes.format(&at, object.s(names.controller), label::key);
        for (key, shown) in [("reportingInstance", "reportingInstance"), ("action", "action"), ("reason", "reason")] {
            let at = Path::new(shown);
            if object.zero(key) {
                causes.need(&at);
            }
            if object.s(key).len() > 128 {
                causes.invalid_str(&at, "", "can have at most 128 characters");
            }
        }
        if object.s(names.message).len() > 1024 {
            causes.invalid_str(&Path::new("message"), "", "can have at most 1024 characters");
        }
    }
    causes.format(&Path::new("namespace"), namespace, name::subdomain);
}

pub(crate) fn update(req: &Request<'_>, object: &Value, old: &Value, causes: &mut Causes) {
    let names = names(req);
    legacy(object, &names, causes);
    if req.kind.group.is_empty() {
        return;
    }
    if !same_field(object, old, "series") {
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
        // Upstream looks at the reason twice.
        ("reason", "reason", "s"),
        ("type", "type", "s"),
        ("eventTime", "eventTime", "t"),
        ("action", "action", "s"),
        ("related", "related", "*core.ObjectReference"),
        ("reportingController", "reportingController", "s"),
        ("reportingInstance", "reportingInstance", "s"),
    ] {
        causes.immutable_internal(&Path::new(shown), shape, object.sub(key), old.sub(key));
    }
}
