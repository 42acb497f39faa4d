//! The owner of the truth, and the workers that answer for it.
//!
//! The owner's view is published in shared memory (`hydrofoil-shared`); each worker has a mirror of it, and commits by a
//! conditional write at the owner, as it would at etcd. Requests and outcomes go over a Unix socket for each worker
//! (`frame.rs`): whoever dies ends it.
//!
//! - `owner.rs` reads the requests of each worker on a thread of its own. A local log commits there; other logs are
//!   asked by whoever takes the requests.
//! - `worker.rs` sends requests, takes outcomes, and applies what the owner publishes.

// Input from outside must not make the server panic: each operation that could panic is reviewed.
#![warn(clippy::string_slice, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod frame;
mod outbox;
mod owner;
mod worker;

pub use frame::{Outcome, Reason, Request};
pub use owner::{Asked, Owner};
pub use worker::{Done, Worker};
