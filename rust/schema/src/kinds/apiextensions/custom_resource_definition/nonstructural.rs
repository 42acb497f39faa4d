//! Schemas that are not structural, which only `v1beta1` allows.

use hydrofoil_types::{Causes, Path, Value};

use super::schema_defaults::aggregate;
use super::structural;
use hydrofoil_types::read::Read;

const SPEC: Path<'static> = Path::new("spec");

/// Report whether a schema is structural.
pub(super) fn is_structural(root: &Value) -> bool {
    let mut causes = Causes::new();
    violations(root, &Path::new("schema"), &mut causes) && causes.is_empty()
}

/// Add why a schema is not structural; return false when none can be made of it.
fn violations(root: &Value, path: &Path<'_>, causes: &mut Causes) -> bool {
    let possible = !structural::names_schema(root) && structural::is_supported(root);
    if possible {
        structural::check(root, path, causes);
    }
    possible
}

/// Return the reason and message of the condition `NonStructuralSchema` of a stored definition; `None` when all is as
/// it should be (`pkg/controller/nonstructuralschema`).
pub fn nonstructural(object: &Value) -> Option<(&'static str, String)> {
    let spec = object.field("spec");
    let mut causes = Causes::new();
    if spec.flag("preserveUnknownFields") {
        causes.invalid(&SPEC.child("preserveUnknownFields"), &Value::Bool(true), "must be false");
    }
    let versions = SPEC.child("versions");
    for (i, version) in spec.list("versions").iter().enumerate() {
        let Some(root) = version.field("schema").opt("openAPIV3Schema") else { continue };
        let at = versions.index(i);
        let at = at.child("schema");
        if !violations(root, &at.child("openAPIV3Schema"), &mut causes) {
            // Of the unsupported fields, `$schema` alone is not refused on writes.
            let name = version.text("name");
            let why = "OpenAPIV3Schema 'schema' is not supported";
            return Some(("StructuralError", format!("failed to check validation schema for version {name}: {why}")));
        }
    }
    (!causes.is_empty()).then(|| ("Violations", aggregate(&causes)))
}
