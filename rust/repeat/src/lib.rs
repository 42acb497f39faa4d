//! Requests like one before.
//!
//! A client sends the same header lines with each of its requests. A [`Request`] is one that arrived whole, cut into
//! what differs between such requests (method, target, length, body) and the lines that do not: its [`Request::key`].
//! [`Heads`] has a value for each key. What lines mean is read by a parser of HTTP once; whatever this crate does not
//! recognize at a glance is left to that parser.
//!
//! [`Memos`] has a value for requests that differ in the name of an object only, whose answers differ in what an
//! [`AnswerHead`] leaves open, and in the body.

mod answer;
mod heads;
mod memos;
mod request;

pub use answer::{AnswerHead, AuditIds, Date};
pub use heads::{Heads, LARGEST, MOST};
pub use memos::{MOST_MEMOS, Memos};
pub use request::{Request, split};
