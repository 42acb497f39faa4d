//! The metadata of custom resources, which are of the built-in type.

use std::sync::Arc;

use hydrofoil_codec::json;
use hydrofoil_types::{Arena, Value};

/// Decode metadata by its type. Return its canonical form, and the paths of strict errors.
pub(super) fn read(builtin: &Arc<Arena>, metadata: &Value) -> Result<(Value, Vec<String>), String> {
    let schema = builtin.metadata();
    let decoded = json::decode(&schema, &json::encode_any(metadata)).map_err(|e| e.to_string())?;
    let mut canonical = json::parse(&json::encode(&schema, &decoded.value)).map_err(|e| e.to_string())?;
    if let Some(owners) = decoded.value.get("managedFields").filter(|owners| !owners.is_zero()) {
        // Field sets stay text, as in stored objects.
        canonical.value.object_at_mut(&[]).set("managedFields", owners.clone());
    }
    let path = |text: &String| text.split('"').nth(1).map(str::to_owned);
    Ok((canonical.value, decoded.strict.iter().filter_map(path).collect()))
}
