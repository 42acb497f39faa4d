//! The errors of a patch.

use std::fmt;

/// A patch that cannot be applied, by the status of the answer (apiserver `pkg/endpoints/handlers/patch.go`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatchError {
    /// The patch document itself is invalid: 400.
    Malformed(String),
    /// The patch does not match the object, or a `test` failed: 422.
    Failed(String),
    /// The patch has this many operations, more than the limit: 413.
    TooMany(usize),
    /// An error that upstream answers with 500: an element without its merge key, an unknown directive.
    Internal(String),
}

impl fmt::Display for PatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(text) | Self::Failed(text) | Self::Internal(text) => f.write_str(text),
            Self::TooMany(got) => {
                let max = crate::json_patch::MAX_OPERATIONS;
                write!(f, "The allowed maximum operations in a JSON patch is {max}, got {got}")
            }
        }
    }
}

impl std::error::Error for PatchError {}
