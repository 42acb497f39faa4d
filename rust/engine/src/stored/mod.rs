//! Stored objects.

mod managed_fields;
mod version;

pub use managed_fields::managed_fields;
pub use version::{Stored, key, same_uid};
