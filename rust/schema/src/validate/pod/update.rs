//! Updates of pods.

use hydrofoil_types::{Causes, Value};

use crate::{Kind, Request};

/// `ValidatePodUpdate` and those of the subresources.
pub(crate) fn update(req: &Request<'_>, object: &Value, old: &Value, causes: &mut Causes) {
    let _: &Kind = req.kind;
    crate::validate::meta::update(object, old, causes);
}
