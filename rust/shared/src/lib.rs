//! Memory that the processes of one server map: the owner of the truth and its workers.
//!
//! A [`Region`] is one anonymous file, mapped by each process. It has three parts:
//!
//! - **Blocks** (`heap.rs`, `block.rs`): bytes that the owner wrote once and nobody changes. A block says which
//!   processes use it, a bit each, and is free when the last of them lets go.
//! - **The feed** (`feed.rs`): a ring of records of a fixed size. The owner writes each once, whatever the number of
//!   workers; each worker reads at its own pace, and one that the ring has passed by is lost and begins anew.
//! - **Counters** (`counters.rs`): one number a process for each, so that a process that ends takes its share with it.
//!
//! The processes trust each other, as threads of one process do: they run the same program, and nobody else has the
//! file. This crate is the only one with unsafe code: a mapping is bytes whose lifetime and sharing the compiler cannot
//! see. What makes each use sound stands beside it.

#![allow(unsafe_code, reason = "memory that other processes map is outside of what the compiler knows")]
#![warn(clippy::string_slice, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod block;
mod counters;
mod feed;
mod heap;
mod layout;
mod region;
mod wait;

pub use block::Block;
pub use counters::{COUNTERS, Held};
pub use feed::{Cursor, FEED_RECORDS, Lapped, Record};
pub use heap::Heap;
pub use layout::{OWNER, SLOTS};
pub use region::Region;
