//! Admission that computes: limits of containers, pods and claims, the usage of quotas by objects, and
//! the room on a node.

// Input must not make the server panic: each place that could has been looked at.
#![warn(clippy::string_slice, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use hydrofoil_types::{Quantity, Value};

mod amounts;
mod limited;
pub mod limits;
pub mod node;
pub mod quota;
mod refusal;
mod scope;

pub use refusal::Refusal;

/// Report whether a claim asks for more storage than before.
pub fn storage_grows(old: &Value, new: &Value) -> bool {
    let asked = |claim: &Value| {
        let text = claim.str_at(&["spec", "resources", "requests", "storage"]);
        Quantity::parse(text).map_or(0, Quantity::nano)
    };
    asked(new) > asked(old)
}
