//! Refusals of admission that computes.

/// Why a write is refused.
#[derive(Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A 403 with this reason.
    Forbidden(String),
    /// A 500 with this message: upstream does not make it a 403.
    Internal(String),
}
