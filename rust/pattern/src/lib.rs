//! Regular expressions as Go's `regexp` has them (RE2): its syntax, limits and messages, on the crates regex and
//! regex-syntax.
//!
//! Regular expressions as Go has them, for schemas and expressions (on the crates regex and regex-syntax; a machine of
//! its own for patterns that would be too large for those).

mod limits;
mod machine;
mod pattern;
mod program;

pub use pattern::{Pattern, problem};
