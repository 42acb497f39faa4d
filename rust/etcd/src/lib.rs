//! The log of all objects in etcd, shared with other API servers, kube-apiserver among them.
//!
//! One watch of the whole prefix feeds the view: all collections share its progress, so that one event or notification
//! shows the progress of each. A write is a transaction that compares the revision of its key; it is complete when
//! its own event has arrived. Everything happens on one thread, except for the decoding of pages.
//!
//! The objects in etcd. `feed.rs` is its thread: events become events of the view, writes become transactions
//! (`writes.rs`); `client.rs` has the connection, `load.rs` reads collections in pages, `resync.rs` begins anew after a
//! compaction, `place.rs` has the keys. The bytes of values are the engine's (`rust/engine/src/kind/shared.rs`).
//!
//! - **One watch feeds all collections.** They share etcd's revision: one event, or one answer to a progress request,
//!   shows how far each of them is. Events of one revision are applied together.
//! - **A write is complete when its own event has arrived**, not with the answer to its transaction: then the view has
//!   every earlier write, too. The object that was sent is used again for the event with the same bytes, instead of
//!   decoding them.
//! - **A fresh read asks for the revision only**, one question for all that wait, and then waits for the replica;
//!   progress is requested if events do not show it within 5 ms.
//! - **A start begins up to 10,000 revisions before the present one**, reads the state of that revision, and applies
//!   the events since: watches from before the start resume. After a compaction beyond its place it reads everything
//!   again, and reports the differences as events.
//! - **No write is repeated** unless etcd surely did not get it: an answer that is lost is a 504.
//! - **Progress that is asked for** is right from etcd 3.4.31 and 3.5.13 on.

// Values of keys may have any content.
#![warn(clippy::string_slice, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod asks;
mod client;
mod compact;
mod feed;
mod health;
mod lease;
mod load;
mod log;
mod messages;
mod options;
mod place;
mod resync;
mod values;
mod watch;
mod writes;

pub use log::{Log, OpenError};
pub use options::Options;
pub use place::{Adapt, Fault, Followed};
pub use values::Unread;
pub use writes::{Done, Outcome, Write};
