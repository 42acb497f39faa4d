//! The messages of an `OpenAPI` document as data: the protobuf field of each JSON member.
//!
//! One line a message. `Name: member number type; ...` is a message of members, `Name? test number type; ...` one of
//! several forms of a value, the first whose test holds. Types: `s` string, `b` boolean, `i` integer, `d` double, `a`
//! any value (as YAML), or a message. The member `*` matches all that no other one names, `x-` vendor extensions.
//! Source: `openapiv2/OpenAPIv2.proto` and `openapiv3/OpenAPIv3.proto` of google/gnostic-models.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "the grammar is a text of this package"
)]

use std::collections::HashMap;
use std::sync::LazyLock;

/// The type of a protobuf field.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Text,
    Bool,
    Int,
    Double,
    Any,
    Message(usize),
}

/// A field: the member (or the test), the number and the type.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) member: &'static str,
    pub(super) number: u32,
    pub(super) kind: Kind,
}

/// A message.
#[derive(Clone, Debug)]
pub(super) enum Message {
    /// Members by name, in the order of their numbers.
    Struct(Vec<Field>),
    /// The forms of a value.
    OneOf(Vec<Field>),
}

/// The messages of one version of the specification; the first is the document.
pub(super) type Grammar = Vec<Message>;

pub(super) static V2: LazyLock<Grammar> = LazyLock::new(|| read(include_str!("v2.txt")));
pub(super) static V3: LazyLock<Grammar> = LazyLock::new(|| read(include_str!("v3.txt")));

/// Parse a grammar.
///
/// # Panics
/// If the text is malformed; a unit test parses both.
fn read(text: &'static str) -> Grammar {
    let lines: Vec<(&str, bool, &str)> = text.lines().map(split).collect();
    let names: HashMap<&str, usize> = lines.iter().enumerate().map(|(i, line)| (line.0, i)).collect();
    let field = |part: &'static str| {
        let mut words = part.split_whitespace();
        let member = words.next().expect("a field has a member");
        let number = words.next().and_then(|n| n.parse().ok()).expect("a field has a number");
        let kind = match words.next() {
            Some("s") => Kind::Text,
            Some("b") => Kind::Bool,
            Some("i") => Kind::Int,
            Some("d") => Kind::Double,
            Some("a") | None => Kind::Any,
            Some(name) => Kind::Message(*names.get(name).expect("a message is defined")),
        };
        Field { member, number, kind }
    };
    lines
        .iter()
        .map(|(_, one_of, fields)| {
            let fields = fields.split(';').map(field).collect();
            if *one_of { Message::OneOf(fields) } else { Message::Struct(fields) }
        })
        .collect()
}

fn split(line: &'static str) -> (&'static str, bool, &'static str) {
    let at = line.find([':', '?']).expect("a line names its message");
    (&line[..at], line.as_bytes()[at] == b'?', &line[at + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_grammars_read_and_number_their_fields_in_order() {
        for grammar in [&*V2, &*V3] {
            for message in grammar {
                if let Message::Struct(fields) = message {
                    assert!(fields.is_sorted_by(|a, b| a.number < b.number), "{fields:?}");
                }
            }
        }
    }
}
