//! Validation.

use hydrofoil_types::{Causes, Value};

use crate::Request;

/// The causes for which the object may not be created.
pub fn create(_req: &Request<'_>, _object: &Value) -> Causes {
    Causes::new()
}

/// The causes for which the object may not be updated.
pub fn update(_req: &Request<'_>, _object: &Value) -> Causes {
    Causes::new()
}
