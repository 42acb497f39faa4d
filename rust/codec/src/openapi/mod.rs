//! `OpenAPI` documents as protobuf, as gnostic's parsers convert them from JSON (kube-openapi `pkg/handler/handler.go`,
//! `pkg/handler3/handler.go`).

#![allow(clippy::indexing_slicing, reason = "the grammar numbers its messages")]

mod grammar;
#[cfg(test)]
mod tests;

use grammar::{Field, Grammar, Kind, Message, V2, V3};
use hydrofoil_types::{Map, Value};
use smol_str::SmolStr;

use crate::proto::wire;
use crate::{DecodeError, json, yaml};

/// Return the protobuf form of a JSON document of version 2 (`swagger`) or 3 (`openapi`).
///
/// # Errors
/// If the text is not JSON.
pub fn to_protobuf(document: &[u8]) -> Result<Vec<u8>, DecodeError> {
    let value = json::parse(document)?.value;
    let is_v2 = value.as_object().is_some_and(|o| o.get("swagger").is_some());
    let grammar: &Grammar = if is_v2 { &V2 } else { &V3 };
    let mut out = Vec::with_capacity(document.len());
    message(grammar, 0, &value, &mut out);
    Ok(out)
}

fn message(grammar: &Grammar, index: usize, value: &Value, out: &mut Vec<u8>) {
    match &grammar[index] {
        Message::Struct(fields) => {
            if let Some(members) = value.as_object() {
                members_of(grammar, fields, members, out);
            }
        }
        Message::OneOf(forms) => {
            if let Some(form) = forms.iter().find(|form| holds(form.member, value)) {
                for item in items(value) {
                    field(grammar, form, item, true, out);
                }
            }
        }
    }
}

fn members_of(grammar: &Grammar, fields: &[Field], members: &Map, out: &mut Vec<u8>) {
    for entry in fields {
        match entry.member {
            "x-" => encode_entries(grammar, entry, members.iter().filter(|(k, _)| k.starts_with("x-")), out),
            "*" => {
                // Properties have no extensions: names with the prefix are plain names there.
                let extended = fields.iter().any(|f| f.member == "x-");
                let known = |k: &str| (extended && k.starts_with("x-")) || fields.iter().any(|f| f.member == k);
                encode_entries(grammar, entry, members.iter().filter(|(k, _)| !known(k)), out);
            }
            member => {
                if let Some(value) = members.get(member) {
                    let several = if wraps(grammar, entry) { std::slice::from_ref(value) } else { items(value) };
                    for item in several {
                        field(grammar, entry, item, false, out);
                    }
                }
            }
        }
    }
}

/// Report whether a message only wraps its value: a list in it is one message of several values, not several messages.
fn wraps(grammar: &Grammar, entry: &Field) -> bool {
    let Kind::Message(index) = entry.kind else { return false };
    matches!(&grammar[index], Message::OneOf(forms) if forms.len() == 1)
}

/// Append the entries of a map, each a message of name and value.
fn encode_entries<'a>(
    grammar: &Grammar,
    entry: &Field,
    members: impl Iterator<Item = &'a (SmolStr, Value)>,
    out: &mut Vec<u8>,
) {
    for (name, value) in members {
        let mut inner = Vec::new();
        wire::bytes(&mut inner, 1, name.as_bytes());
        field(grammar, &Field { member: "", number: 2, kind: entry.kind }, value, true, &mut inner);
        wire::bytes(out, entry.number, &inner);
    }
}

fn items(value: &Value) -> &[Value] {
    value.as_array().unwrap_or(std::slice::from_ref(value))
}

fn holds(test: &str, value: &Value) -> bool {
    match test {
        "else" => true,
        "bool" => matches!(value, Value::Bool(_)),
        "string" => matches!(value, Value::Str(_)),
        "number" => matches!(value, Value::Int(_) | Value::Float(_)),
        _ => {
            let (member, wanted) = test.split_once('=').unwrap_or((test, ""));
            let found = value.as_object().and_then(|o| o.get(member));
            found.is_some_and(|v| wanted.is_empty() || v.as_str() == Some(wanted))
        }
    }
}

/// Append one value; `zeros` includes values that proto3 omits outside of a `oneof`.
fn field(grammar: &Grammar, entry: &Field, value: &Value, zeros: bool, out: &mut Vec<u8>) {
    match (entry.kind, value) {
        (Kind::Text, Value::Str(text)) => wire::bytes(out, entry.number, text.as_bytes()),
        (Kind::Bool, Value::Bool(flag)) if *flag || zeros => wire::number(out, entry.number, i64::from(*flag)),
        (Kind::Int, Value::Int(n)) if *n != 0 || zeros => wire::number(out, entry.number, *n),
        (Kind::Double, Value::Int(n)) => double(out, entry.number, *n as f64, zeros),
        (Kind::Double, Value::Float(n)) => double(out, entry.number, n.get(), zeros),
        (Kind::Any, value) => {
            let mut inner = Vec::new();
            wire::bytes(&mut inner, 2, &yaml::write(value));
            wire::bytes(out, entry.number, &inner);
        }
        (Kind::Message(index), value) => {
            let mut inner = Vec::new();
            message(grammar, index, value, &mut inner);
            wire::bytes(out, entry.number, &inner);
        }
        _ => {}
    }
}

fn double(out: &mut Vec<u8>, number: u32, n: f64, zeros: bool) {
    if n != 0.0 || zeros {
        wire::tag(out, number, 1);
        out.extend_from_slice(&n.to_le_bytes());
    }
}
