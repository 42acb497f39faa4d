//! The work of a strategy on an object between defaulting and validation: `PrepareForCreate` and
//! `PrepareForUpdate` of kubernetes `pkg/registry/<group>/<resource>/strategy.go`.

pub mod daemon;

use hydrofoil_types::{Timestamp, Value};

use crate::kind::Change;
use crate::{Kind, Request, convert};
use hydrofoil_internal as internal;
use hydrofoil_types::read::{Read, Write};

/// `PrepareForCreate` of the kind's strategy.
pub fn create(req: &Request<'_>, object: &mut Value) {
    let strategy = req.kind.strategy;
    internally(req.kind, object, |object| {
        if strategy.has_status && !strategy.creates_status {
            object.drop("status");
        }
        if strategy.generation.on_create {
            object.make("metadata").put("generation", 1);
        }
        (strategy.prepare_create)(req.release(), object, req.now);
        (strategy.drop_disabled)(req.release(), object, None);
    });
}

/// Take over the values allocated to a service that an update omits, before anything is allocated
/// (`patchAllocatedValues`, `normalizeClusterIPs`).
pub fn patch_allocated_values(service: &mut Value, old: &Value) {
    crate::kinds::core::service::prepare::patch_allocated_values(service, old);
}

/// Complete a prepared object that was sent without labels.
pub fn complete_unlabelled(kind: &Kind, object: &mut Value) {
    (kind.strategy.label)(object);
}

/// `PrepareForUpdate` of the strategy of the kind or its subresource.
pub fn update(req: &Request<'_>, object: &mut Value) {
    let Some(old) = req.old else { return };
    let now = req.now;
    let strategy = req.kind.strategy;
    let internal = convert::internal(req.kind, old);
    let old = internal.as_ref().unwrap_or(old);
    internally(req.kind, object, |object| {
        // Fields that are not served do not count as a change.
        (strategy.drop_disabled)(req.release(), object, Some(old));
        match req.subresource {
            "" => main_resource(req.kind, object, old, now),
            "status" => {
                object.copy_from(old, "spec");
                (strategy.prepare_status)(req.release(), object, old, now);
                if strategy.status_resets_metadata {
                    keep_metadata(object, old);
                }
            }
            subresource => (strategy.prepare_subresource)(req.release(), subresource, object, old, now),
        }
    });
}

/// Prepare an update of the main resource.
fn main_resource(kind: &Kind, object: &mut Value, old: &Value, now: Timestamp) {
    let strategy = kind.strategy;
    if strategy.has_status {
        object.copy_from(old, "status");
    }
    (strategy.prepare_update)(kind.release, object, old);
    (strategy.age_update)(object, old, now);
    let changed = match strategy.generation.on_update {
        Change::Nothing => false,
        Change::Spec(shape) => !internal::same(shape, object.field("spec"), old.field("spec")),
        Change::Found(differs) => differs(object, old),
    };
    let next = old.field("metadata").int("generation").wrapping_add(i64::from(changed));
    if next != 0 {
        object.make("metadata").put("generation", next);
    }
    (strategy.drop_counted)(object, old);
}

/// Apply a function to an object in the version that the strategy concerns.
fn internally(kind: &Kind, object: &mut Value, work: impl FnOnce(&mut Value)) {
    let Some(conversion) = kind.strategy.internal else { return work(object) };
    (conversion.up)(object);
    work(object);
    (conversion.down)(object);
}

/// Take over the fields that a write of the status leaves alone (`metav1.ResetObjectMetaForStatus`).
fn keep_metadata(object: &mut Value, old: &Value) {
    let meta = object.make("metadata");
    for key in ["deletionTimestamp", "generation", "selfLink", "labels", "annotations", "finalizers", "ownerReferences"]
    {
        meta.copy_from(old.field("metadata"), key);
    }
}
