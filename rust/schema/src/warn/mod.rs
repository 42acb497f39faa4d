//! Warnings.

use hydrofoil_types::Value;

use crate::Request;

/// `WarningsOnCreate` of the kind's strategy.
pub fn create(_req: &Request<'_>, _object: &Value) -> Vec<String> {
    Vec::new()
}

/// `WarningsOnUpdate` of the kind's strategy.
pub fn update(_req: &Request<'_>, _object: &Value) -> Vec<String> {
    Vec::new()
}
