//! Schemas that are not structural, which only `v1beta1` lets in.

use hydrofoil_types::{Causes, Path, Value};

use super::defaults::aggregate;
use super::{SPEC, structural};
use crate::read::Read;

/// Whether a schema is structural.
pub(super) fn is_structural(root: &Value) -> bool {
    let mut causes = Causes::new();
    violations(root, &Path::new("schema"), &mut causes) && causes.is_empty()
}

/// Adds why a schema is not structural; false when none can be made of it.
fn violations(root: &Value, path: &Path<'_>, causes: &mut Causes) -> bool {
    let possible = !structural::names_schema(root) && structural::is_supported(root);
    if possible {
        structural::check(root, path, causes);
    }
    possible
}

/// The reason and message of the condition `NonStructuralSchema` of a stored definition; none when all is as it should
/// be (`pkg/controller/nonstructuralschema`).
pub fn nonstructural(object: &Value) -> Option<(&'static str, String)> {
    let spec = object.sub("spec");
    let mut causes = Causes::new();
    if spec.b("preserveUnknownFields") {
        causes.invalid(&SPEC.child("preserveUnknownFields"), &Value::Bool(true), "must be false");
    }
    let versions = SPEC.child("versions");
    for (i, version) in spec.list("versions").iter().enumerate() {
        let Some(root) = version.sub("schema").opt("openAPIV3Schema") else { continue };
        let at = versions.index(i);
        let at = at.child("schema");
        if !violations(root, &at.child("openAPIV3Schema"), &mut causes) {
            // Of what stands in the way, `$schema` alone is not refused when it is written.
            let name = version.s("name");
            let why = "OpenAPIV3Schema 'schema' is not supported";
            return Some(("StructuralError", format!("failed to check validation schema for version {name}: {why}")));
        }
    }
    (!causes.is_empty()).then(|| ("Violations", aggregate(&causes)))
}
