//! The object store: one copy-on-write tree and one ring of events a resource.
//!
//! A [`Shard`] holds the objects of one resource behind one lock. Every write
//! takes a revision inside that lock, changes the tree and appends to the ring,
//! so that the visible state and the history never disagree. Readers take a
//! [`Snapshot`] and leave the lock at once; watchers are cursors into the ring.

// What comes from outside must not make the server panic: each place that could has been looked at.
#![warn(clippy::string_slice, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod ages;
mod cache;
mod error;
mod fields;
mod interest;
mod labels;
mod leaf;
mod list;
mod ring;
mod shard;
mod store;
mod token;
mod tree;
mod version;
mod watcher;

pub use cache::{Block, Cache, Made};
pub use error::StoreError;
pub use fields::{FieldSelector, FieldTarget, View};
pub use labels::LabelSelector;
pub use leaf::Leaf;
pub use list::{Page, Part, Selector};
pub use ring::{Event, EventType};
pub use shard::{Limits, Reindexed, Shard, Snapshot};
pub use store::Store;
pub use token::{ContinueToken, TokenError};
pub use tree::Tree;
pub use version::{Draft, Version};
pub use watcher::{Drained, Filter, Frame, WatchStart, WatcherId};
