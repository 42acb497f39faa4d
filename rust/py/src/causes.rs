//! Causes of a refusal, as Python has them.

use hydrofoil_types::Causes;

/// Reason, message, field.
pub(crate) type CauseTuple = (&'static str, String, String);

pub(crate) fn tuples(causes: &Causes) -> Vec<CauseTuple> {
    causes.as_slice().iter().map(|c| (c.reason.wire(), c.message.to_string(), c.field.to_string())).collect()
}
