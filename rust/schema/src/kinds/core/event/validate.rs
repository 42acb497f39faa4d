//! Events of both groups (`pkg/apis/core/validation/events.go`).

use hydrofoil_types::{Causes, Path, Value};

use crate::Request;
use hydrofoil_rules::check::Check;
use hydrofoil_rules::format::{label, name};
use hydrofoil_rules::meta;
use hydrofoil_types::read::Read;

/// The names of the fields of an event in a group.
pub(in crate::kinds) struct Names {
    pub(in crate::kinds) object: &'static str,
    pub(in crate::kinds) message: &'static str,
    pub(in crate::kinds) controller: &'static str,
}

/// The names of the core group.
const CORE: Names = Names { object: "involvedObject", message: "message", controller: "reportingComponent" };

/// `ValidateEventCreate` of the core group.
pub(super) fn create(req: &Request<'_>, object: &Value, causes: &mut Causes) {
    legacy(object, &CORE, causes);
    // Only BeforeCreate itself validates the whole metadata, after the strategy.
    if causes.is_empty() {
        meta::common_create(req.kind, object, causes);
    }
}

/// `ValidateEventUpdate` of the core group.
pub(super) fn update(object: &Value, causes: &mut Causes) {
    legacy(object, &CORE, causes);
}

/// Validate the series of an event.
pub(in crate::kinds) fn series(object: &Value, causes: &mut Causes) {
    let Some(series) = object.opt("series") else { return };
    if series.int("count") < 2 {
        causes.invalid_str(&Path::new("series.count"), "", "should be at least 2");
    }
    if series.zero("lastObservedTime") {
        causes.need(&Path::new("series.lastObservedTime"));
    }
}

/// `legacyValidateEvent`. The paths are those of the internal type, but for the controller.
pub(in crate::kinds) fn legacy(object: &Value, names: &Names, causes: &mut Causes) {
    let namespace = object.field("metadata").text("namespace");
    let about = object.field(names.object).text("namespace");
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
        causes.format(&at, object.text(names.controller), label::key);
        for (key, shown) in [("reportingInstance", "reportingInstance"), ("action", "action"), ("reason", "reason")] {
            let at = Path::new(shown);
            if object.zero(key) {
                causes.need(&at);
            }
            if object.text(key).len() > 128 {
                causes.invalid_str(&at, "", "can have at most 128 characters");
            }
        }
        if object.text(names.message).len() > 1024 {
            causes.invalid_str(&Path::new("message"), "", "can have at most 1024 characters");
        }
    }
    causes.format(&Path::new("namespace"), namespace, name::subdomain);
}
