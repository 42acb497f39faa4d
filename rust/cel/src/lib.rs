//! The Common Expression Language of Kubernetes: parser, type checker, cost, evaluator and libraries.
//!
//! An expression is compiled against the declaration of a structural schema ([`Decl`]) and run on values of an object
//! in place. Messages are cel-go's.
//!
//! Expressions. Parser, checker and cost of the language; `library/mod.rs` finds functions by name, each group of
//! functions in a file beside it; `value/mod.rs` has the values. `decl.rs` declares schemas, `published.rs` those of
//! ``OpenAPI`` documents, by which `typing.rs` checks policies. Costs do not bound time: `patience.rs` looks at the clock
//! every 50 units of an evaluation that a caller waits for, which then begins anew off the loop; large maps and sets
//! are searched by `value/index.rs`.

// Input from outside must not make the server panic: each operation that could panic is reviewed.
#![warn(clippy::string_slice, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod admission;
mod ast;
mod charge;
mod checker;
mod cost;
mod decl;
mod environment;
mod escape;
mod eval;
mod expression;
mod library;
mod literal;
mod parser;
mod patience;
mod plan;
mod program;
mod published;
mod scope;
mod size;
mod source;
mod token;
mod types;
mod typing;
mod value;

pub use admission::{Inputs, Outcome, Scripts, Stop};
pub use decl::Decl;
pub use environment::{Environment, Named, Output};
pub use escape::escape;
pub use expression::{Expression, Subject};
pub use patience::Patience;
pub use program::{Failure, Kind, Program, Refusal, Variables};
pub use scope::Question;
pub use typing::issues;
pub use value::Verdict;
