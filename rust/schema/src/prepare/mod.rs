//! What a strategy does to an object between defaulting and validation: `PrepareForCreate` and
//! `PrepareForUpdate` of kubernetes `pkg/registry/<group>/<resource>/strategy.go`.

mod claim;
mod create;
pub mod daemon;
mod gates;
mod job;
mod pod;
mod qos;
mod service;
mod status;
mod update;

use hydrofoil_types::{Timestamp, Value};

use crate::{Kind, Request, convert};

pub(crate) use qos::class as qos_class;

/// `PrepareForCreate` of the kind's strategy, at a moment.
pub fn create(req: &Request<'_>, object: &mut Value, now: Timestamp) {
    internally(req.kind, object, |object| {
        create::prepare(req.kind, object, now);
        gates::drop_disabled(req.kind, object, None);
    });
}

/// Takes over what was allocated to a service and is not named anew, before anything is allocated
/// (`patchAllocatedValues`, `normalizeClusterIPs`).
pub fn allocated(service: &mut Value, old: &Value) {
    service::allocated(service, old);
}

/// Completes a prepared object that came without labels.
pub fn unlabelled(kind: &Kind, object: &mut Value) {
    if kind.key() == ("batch", "Job") {
        job::share_labels(object);
    }
}

/// `PrepareForUpdate` of the strategy of the kind or its subresource, at a moment.
pub fn update(req: &Request<'_>, object: &mut Value, now: Timestamp) {
    let Some(old) = req.old else { return };
    let internal = convert::internal(req.kind.gvk(), old);
    let old = internal.as_ref().unwrap_or(old);
    internally(req.kind, object, |object| {
        // What is not served does not count as a change.
        gates::drop_disabled(req.kind, object, Some(old));
        match req.subresource {
            "" => update::prepare(req.kind, object, old),
            sub => status::prepare(req.kind, sub, object, old, now),
        }
    });
}

/// Has a strategy work on the version of an object that it is about.
fn internally(kind: &Kind, object: &mut Value, work: impl FnOnce(&mut Value)) {
    match convert::internal(kind.gvk(), object) {
        Some(mut internal) => {
            work(&mut internal);
            convert::external(&mut internal);
            *object = internal;
        }
        None => work(object),
    }
}
