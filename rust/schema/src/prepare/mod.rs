//! Preparation.

use hydrofoil_types::Value;

use crate::Request;

/// `PrepareForCreate` of the kind's strategy.
pub fn create(_req: &Request<'_>, _object: &mut Value) {}

/// `PrepareForUpdate` of the kind's strategy.
pub fn update(_req: &Request<'_>, _object: &mut Value) {}
