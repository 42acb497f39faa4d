//! Warnings: `WarningsOnCreate` and `WarningsOnUpdate` of the strategies.

use hydrofoil_types::Value;

use crate::Request;

/// `WarningsOnCreate` of the kind's strategy, for an object that is prepared and valid.
#[must_use]
pub fn create(req: &Request<'_>, object: &Value) -> Vec<String> {
    let mut reported = Vec::new();
    (req.kind.strategy.warn_create)(object, &mut reported);
    reported
}

/// `WarningsOnUpdate` of the kind's strategy; those of subresources have none.
#[must_use]
pub fn update(req: &Request<'_>, object: &Value) -> Vec<String> {
    let mut reported = Vec::new();
    if let (Some(old), "") = (req.old, req.subresource) {
        (req.kind.strategy.warn_update)(object, old, &mut reported);
    }
    reported
}
