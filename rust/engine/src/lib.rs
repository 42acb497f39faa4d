//! The operations of a server on the objects of its resources.
//!
//! A [`kind::ObjectKind`] has the rules of one resource in one version. Writes ([`write`](mod@write)), reads ([`read`])
//! and watches ([`watch`]) combine its methods with the data of the [store](hydrofoil_store). The bytes to be sent are
//! a [`Frame`], whose type the front end chooses.
//!
//! One trait for built-in and custom kinds (`kind/mod.rs`), the steps of a draft (`write/steps.rs`), patches, apply,
//! forms and pieces of lists (`read/list/cursor.rs`), batches of watch events (`watch/batch.rs`). The bytes that go out
//! are a type parameter, `Frame`; of transports it knows the frame of an HTTP/1.1 chunk only.
//!
//! - **A patch reads the members that it names** (`write/patch/mod.rs`). They are cut out of the stored JSON, patched
//!   as generic JSON and decoded by the type; all others are copied from the decoded object, which the rules need
//!   anyway. Only a patch of the whole (a directive at the root, `apiVersion`, a pointer to the root) reads everything.
//!
//! - **Raw JSON stays text.** `runtime.RawExtension` (data of controller revisions, parameters of drivers) is a
//!   `Value::Raw` as it was given, so that immutable fields compare by text. Stored JSON, which every reader gets, has
//!   it without white space; where that is another text, a version carries a second JSON for the next write to read. A
//!   JSON or merge patch leaves compact text, a strategic patch or an apply has its members sorted by name, as
//!   upstream's ways through JSON and maps do.

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
