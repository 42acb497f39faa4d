//! The generation of a daemon set's template, which is kept as an annotation
//! (`pkg/apis/apps/v1/conversion.go`).

use hydrofoil_types::Value;

use crate::Kind;
use hydrofoil_types::read::Write;

/// Return the annotation that the internal objects of a kind do not have.
pub fn converted_annotation(kind: &Kind) -> Option<&'static str> {
    kind.strategy.converted_annotation
}

/// Remove an annotation from metadata.
pub fn drop_annotation(metadata: &mut Value, key: &str) {
    let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) else { return };
    annotations.remove(key);
    if annotations.is_empty() {
        metadata.drop("annotations");
    }
}
