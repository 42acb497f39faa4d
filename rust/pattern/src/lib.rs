//! Regular expressions as Go's `regexp` has them (RE2): its syntax, limits and messages, on the crates regex and
//! regex-syntax.

mod limits;
mod machine;
mod pattern;
mod program;

pub use pattern::{Pattern, problem};
