//! Texts as Go writes them: quotes, durations, and the calendar behind times.

// Input from outside must not make the server panic: each operation that could panic is reviewed.
#![warn(clippy::string_slice, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

pub mod calendar;
pub mod duration;
mod quote;

pub use quote::{go_json_string, quoted, rune};
