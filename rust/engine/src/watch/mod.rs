//! Watches: the streams of events of a resource.

mod batch;
mod bookmark;
mod chunk;
mod event;
mod watcher;

pub(crate) use batch::Batches;
pub use watcher::{Difference, Watcher};
