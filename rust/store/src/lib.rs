//! The object store: what is kept, and who says what is kept.
//!
//! A [`View`] answers every read: one copy-on-write tree and one ring of events a resource, each [`Shard`] behind one
//! lock, so that the visible state and the history never disagree. Readers take a [`Snapshot`] and leave the lock at
//! once; watchers are cursors into the ring. Where the truth is elsewhere its feed applies events to the view, at the
//! revisions that they have there; [`Local`] is a truth of its own, which judges and gives revisions inside that lock.

// What comes from outside must not make the server panic: each place that could has been looked at.
#![warn(clippy::string_slice, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod error;
mod local;
mod view;

pub use error::StoreError;
pub use local::Local;
pub use view::{
    Block, Cache, Change, ContinueToken, Draft, Drained, Event, EventType, FieldSelector, FieldTarget, Filter, Frame,
    LabelSelector, Leaf, Limits, Made, Page, Part, Reindexed, Selector, Shard, Shown, Snapshot, TokenError,
    Transaction, Tree, Version, View, WatchStart, WatcherId,
};
