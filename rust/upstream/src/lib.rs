//! The feed of a view from the lists and watches of another API server.
//!
//! A [`Feed`] reads the bodies that the other server sends for one resource: pages of a list, and the lines of a watch.
//! Whoever has the connection gives it their bytes as they arrive; objects become versions of the
//! [view](hydrofoil_store::Shard) without another form between.
//!
//! - **The revisions are the other server's**, and each resource has its own order: nothing compares two of them.
//! - **An object stays as it was written** (`hydrofoil_engine::kind::Mirror`).
//! - **A list is complete or nothing**: its objects wait until its last page, or the bookmark that ends the initial events
//!   of a watch. Then an empty view is loaded, and any other replaced: differences become events.

// Bodies of others may have any content.
#![warn(clippy::string_slice, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod feed;
mod line;

pub use feed::{Feed, FeedError, Progress};
