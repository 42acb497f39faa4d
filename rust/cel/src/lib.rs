//! The Common Expression Language as Kubernetes has it: parser, type checker, cost, evaluator and libraries.
//!
//! An expression is compiled against the declaration that a structural schema gives ([`Decl`]) and run on values of
//! an object where they stand. Messages are cel-go's.

// What comes from outside must not make the server panic: each place that could has been looked at.
#![warn(clippy::string_slice, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod ast;
mod charge;
mod checker;
mod convert;
mod cost;
mod cost_rules;
mod decl;
mod environment;
mod escape;
mod eval;
mod format;
mod functions;
mod library;
mod lists;
mod literal;
mod literals;
mod macros;
mod net;
mod operators;
mod parser;
mod plan;
mod printf;
mod program;
mod quantity;
mod semver;
mod size;
mod source;
mod text;
mod time;
mod token;
mod types;
mod url;
mod value;

pub use decl::Decl;
pub use environment::{Environment, Named, Output};
pub use escape::escape;
pub use program::{Failure, Kind, Program, Refusal, Variables};
