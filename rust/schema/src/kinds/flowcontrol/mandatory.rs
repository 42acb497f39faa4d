//! Objects that every server has, and that stay as they are (`apis/flowcontrol/bootstrap`).

/// The refusal of another specification.
pub(super) fn message(name: &str) -> String {
    format!("Invalid value: \"spec\": spec of '{name}' must equal the fixed value")
}
