//! Configuration of devices, which their drivers alone understand.

use hydrofoil_types::{Causes, Path, Value};

use super::names;
use hydrofoil_rules::check::Check;
use hydrofoil_types::read::Read;

/// `validateDeviceConfiguration`.
pub(super) fn validate(holder: &Value, path: &Path<'_>, causes: &mut Causes) {
    let at = path.child("opaque");
    let Some(value) = holder.opt("opaque") else { return causes.need(&at) };
    names::driver(value.text("driver"), &at.child("driver"), causes);
    raw(value.opt("parameters"), &at.child("parameters"), causes);
}

/// `validateRawExtension`. Nothing longer was ever stored, so that stored objects need no leniency.
pub(super) fn raw(value: Option<&Value>, at: &Path<'_>, causes: &mut Causes) {
    const LONGEST: usize = 10 << 10;
    match value {
        None => causes.need(at),
        Some(Value::Raw(text)) if text.len() > LONGEST => causes.too_long(at, LONGEST),
        Some(Value::Raw(text)) if text.starts_with('{') => {}
        Some(_) => causes.invalid_str(at, "<value omitted>", "must be a valid JSON object"),
    }
}
