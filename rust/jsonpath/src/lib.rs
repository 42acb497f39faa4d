//! Templates of `JSONPath` (client-go `util/jsonpath`): paths of printer columns, and of warnings of policies.

// Input must not make the server panic: each place that could has been looked at.
#![warn(clippy::string_slice, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod compare;
mod find;
mod parse;
mod unquote;

use hydrofoil_types::Finite;

/// A parsed template: texts, and the lists of steps that are in braces.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonPath(Vec<Node>);

#[derive(Clone, Debug, PartialEq)]
enum Node {
    Text(String),
    List(Vec<Node>),
    Field(String),
    Slice(Slice),
    Identifier,
    Filter { left: Vec<Node>, test: Option<(String, Vec<Node>)> },
    Int(i64),
    Float(Finite),
    Bool(bool),
    Wildcard,
    Descent,
    Union(Vec<Vec<Node>>),
}

/// Places in a list; those of one item have an end that follows from the first.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Slice {
    from: Option<i64>,
    to: Option<i64>,
    one: bool,
    step: Option<i64>,
}

#[cfg(test)]
mod tests;
