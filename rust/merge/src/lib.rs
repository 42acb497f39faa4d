//! Patches of API objects.

mod error;
mod json_merge;
mod json_patch;
mod notation;
mod strategic;
#[cfg(test)]
mod testing;

pub use error::PatchError;
pub use json_merge::json_merge;
pub use json_patch::{json_patch, json_patch_unknown};
pub use strategic::strategic;
