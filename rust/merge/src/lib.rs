//! Patches of API objects, and the ownership of fields.

// Input from outside must not make the server panic: each operation that could panic is reviewed.
#![warn(clippy::string_slice, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod apply;
mod canonical;
mod compare;
mod equal;
mod error;
mod fieldset;
#[cfg(test)]
mod hostile;
mod json_merge;
mod json_patch;
mod managed;
mod members;
mod owned;
mod place;
mod shown;
mod strategic;
#[cfg(test)]
mod testing;
mod track;
mod typed;
mod versions;

pub use apply::{ApplyError, Conflict, Conflicts, apply, overlay};
pub use error::PatchError;
pub use fieldset::{FieldSet, PathElement};
pub use json_merge::json_merge;
pub use json_patch::{json_patch, json_patch_unknown};
pub use owned::set_of;
pub use shown::order_outcome;
pub use strategic::strategic;
pub use track::track_update;
pub use typed::object_name;
pub use versions::{ManagedRequest, OneVersion, Pending, Unconverted, Versions};
