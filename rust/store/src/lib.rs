//! The object store: a view of objects and the log that orders their changes.
//!
//! A [`View`] serves every read: one copy-on-write tree and one ring of events a resource, each [`Shard`] behind one
//! lock, so that the visible state and the history are always consistent. Readers take a [`Snapshot`] and release the
//! lock at once; watchers are cursors into the ring. With an external source, its feed applies events to the view at
//! their revisions there; [`Local`] is a log of its own, which checks preconditions and assigns revisions inside that
//! lock.
//!
//! `view/` (tree, leaves, ring, shards, watchers, interest index, selectors, continue tokens) and `local/mod.rs`
//! (preconditions and revisions of the local log). A restore compares two trees by the identity of their leaves
//! (`view/checkpoint.rs`) and makes each leaf that differs once (`view/tree/edit.rs`).

// Input from outside must not make the server panic: each operation that could panic is reviewed.
#![warn(clippy::string_slice, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod error;
mod local;
mod view;

pub use error::StoreError;
pub use local::Local;
pub use view::{
    Attachment, Block, BlockKey, Cache, Change, Checkpoint, ContinueToken, Difference, Draft, Drained, Event,
    EventType, FieldSelector, FieldTarget, Filter, Frame, LabelSelector, Leaf, Limits, Made, Mirror, Page, Part,
    Reindexed, SavedError, Selector, Shard, Shown, Snapshot, TokenError, Transaction, Tree, Version, View, WatchStart,
    WatcherId, field_terms, is_requirement,
};
