//! Bindings: the API groups of roles and subjects.

use hydrofoil_types::Value;

use crate::read::{Read, Write};

const GROUP: &str = "rbac.authorization.k8s.io";

pub(super) fn binding(object: &mut Value) {
    object.make("roleRef").fill("apiGroup", GROUP);
    object.each("subjects", |subject| {
        // Service accounts are of the core group, which is written as nothing.
        if matches!(subject.s("kind"), "User" | "Group") {
            subject.fill("apiGroup", GROUP);
        }
    });
}
