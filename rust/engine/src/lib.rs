//! The operations of a server on the objects of its resources.
//!
//! A [`kind::ObjectKind`] has the rules of one resource in one version. Writes ([`write`](mod@write)), reads ([`read`])
//! and watches ([`watch`]) combine its methods with the data of the [store](hydrofoil_store). The bytes to be sent are
//! a [`Frame`], whose type the front end chooses.

// Input from outside must not make the server panic: each operation that could panic is reviewed.
#![warn(clippy::string_slice, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

pub mod admission;
mod error;
mod expression;
mod frame;
pub mod kind;
pub mod read;
mod shard;
mod signal;
pub mod stored;
pub mod transcode;
mod view;
pub mod watch;
pub mod write;

pub use error::{Error, Result};
pub use expression::Expression;
pub use frame::Frame;
pub use shard::Shard;
pub use signal::Signal;
pub use view::View;
