//! Warnings: `WarningsOnCreate` and `WarningsOnUpdate` of the strategies.

use hydrofoil_types::Value;

use crate::Request;
use hydrofoil_types::read::Read;

/// `WarningsOnCreate` of the kind's strategy, for an object that is prepared and valid.
#[must_use]
pub fn create(req: &Request<'_>, object: &Value) -> Vec<String> {
    let mut reported = Vec::new();
    (req.kind.strategy.warn_create)(req.release(), object, &mut reported);
    reported
}

/// The warnings of `PrepareForCreate`, which precede validation.
#[must_use]
pub fn on_prepare(req: &Request<'_>, object: &Value) -> Vec<String> {
    let mut reported = Vec::new();
    (req.kind.strategy.warn_prepared)(req.release(), object, &mut reported);
    reported
}

/// `WarningsOnUpdate` of the kind's strategy, or of its status.
#[must_use]
pub fn update(req: &Request<'_>, object: &Value) -> Vec<String> {
    let mut reported = Vec::new();
    match (req.old, req.subresource) {
        (Some(old), "") => (req.kind.strategy.warn_update)(req.release(), object, old, &mut reported),
        (Some(_), "status") => (req.kind.strategy.warn_status)(req.release(), object.field("status"), &mut reported),
        _ => {}
    }
    reported
}
