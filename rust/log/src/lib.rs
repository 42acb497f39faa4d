//! The log of all objects of a server, on a disk.
//!
//! A folder contains *segments*, whose groups of records are the changes in the order of their revisions, *states*, each
//! the objects before the first record of a segment, and a *manifest*, which names them. A start loads the oldest state
//! and applies all records after it, so that the history of a view is as before. One thread writes: all changes that wait
//! become one group, which is durable before the view has them.
//!
//! Damage is found by checksums. Only the last group of the last segment may be incomplete, if nothing shows that it was
//! durable: it is cut.

// Files may have any content.
#![warn(clippy::string_slice, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod data;
mod disk;
mod error;
mod files;
mod folder;
mod group;
mod load;
mod log;
mod manifest;
mod options;
mod queue;
mod record;
mod seal;
mod segment;
mod state;
mod unread;
mod wire;
mod writer;

pub use data::{Encryption, Summary, backup, check, compact, export, restore};
pub use disk::Faults;
pub use error::{LogError, Result};
pub use log::Log;
pub use options::{Options, Sync};
pub use queue::{Done, Refusal, Submitted, Target};
pub use seal::Fault;
