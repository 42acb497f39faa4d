//! Stored objects.

mod graph;
mod managed_fields;
mod outline;
mod version;

pub use graph::graph_members;
pub use managed_fields::managed_fields;
pub use outline::outline;
pub use version::{Stored, key, same_object, same_uid};
