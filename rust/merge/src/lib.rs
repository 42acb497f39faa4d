//! Patches of API objects, and the ownership of fields.
//!
//! JSON patch, merge patch, strategic merge patch, server-side apply, managed fields. Owners are compared in the
//! version of each (`versions.rs`); a conversion by a webhook ends the attempt, which is made again with its result
//! (`rust/engine/src/write/conversions.rs`, `registry/session.py`).
//!
//! - **Managed fields stay text.** `fieldsV1` is kept as canonical JSON (`Value::Raw`) and read as a set of paths only
//!   where a manager's fields change: it is half of many objects, and most writes leave most of it alone.
//!
//! - **A configuration that is plain JSON is read as JSON**, though its type is YAML; exponents, halves of surrogate
//!   pairs, merge keys and line breaks, which the two read differently, are left to the YAML reader.

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
