//! Validation: the rules of `pkg/apis/<group>/validation` behind the strategies of each kind.

mod check;
mod core;
mod format;
mod meta;
mod pod;
mod resource;
mod selector;

use hydrofoil_types::{Causes, Value};

use crate::Request;

/// The causes for which the object may not be created.
pub fn create(req: &Request<'_>, object: &Value) -> Causes {
    let mut causes = Causes::new();
    match req.kind.key() {
        ("", "Pod") => pod::create(req.kind, object, &mut causes),
        _ => meta::create(req.kind, object, &mut causes),
    }
    causes
}

/// The causes for which the object may not be updated.
pub fn update(req: &Request<'_>, object: &Value) -> Causes {
    let mut causes = Causes::new();
    let Some(old) = req.old else { return causes };
    match req.kind.key() {
        ("", "Pod") => pod::update(req, object, old, &mut causes),
        _ => meta::update(object, old, &mut causes),
    }
    causes
}
