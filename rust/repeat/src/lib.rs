//! Requests whose head is like one before.
//!
//! A client sends the same header lines with each of its requests. A [`Request`] is one that arrived whole, cut into
//! what differs between such requests (method, target, length, body) and the lines that do not: its [`Request::key`].
//! [`Heads`] has a value for each key. What lines mean is read by a parser of HTTP once; whatever this crate does not
//! recognize at a glance is left to that parser.

mod heads;
mod request;

pub use heads::{Heads, LARGEST, MOST};
pub use request::{Request, split};
