//! Audit events as lines of JSON (`event.rs`), and those that wait to be written to a log (`lines.rs`).

// Input from outside must not make the server panic: each operation that could panic is reviewed.
#![warn(clippy::string_slice, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod event;
mod lines;

pub use event::{Record, Reference, Request, Stage, sources};
pub use lines::Lines;
