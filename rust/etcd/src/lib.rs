//! The log of all objects in etcd, shared with other API servers, kube-apiserver among them.
//!
//! One watch of the whole prefix feeds the view: all collections share its progress, so that one event or notification
//! shows the progress of each. A write is a transaction that compares the revision of its key; it is complete when
//! its own event has arrived. Everything happens on one thread, except for the decoding of pages.

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
