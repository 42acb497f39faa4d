//! Patches of API objects.

mod json_merge;

pub use json_merge::json_merge;
