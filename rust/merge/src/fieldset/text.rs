//! Sets in the form of `fieldsV1` (`fieldpath/serialize.go`).

#![allow(clippy::arithmetic_side_effects, reason = "places and depths are bounded by what is in memory")]
#![allow(clippy::indexing_slicing, reason = "places come from the list that they lead into")]

use std::borrow::Cow;

use hydrofoil_types::{SmolStr, Value};

use super::FieldSet;
use super::element::{Parsed, PathElement};
use hydrofoil_types::notation::{self, Reader};

/// The limit on the nesting of a set: that of the decoder.
const MAX_DEPTH: usize = 1000;

impl FieldSet {
    /// Return the set as `fieldsV1`.
    pub fn to_value(&self) -> Value {
        let mut out = String::with_capacity(128);
        self.write(false, &mut out);
        Value::Raw(SmolStr::from(out))
    }

    fn write(&self, member: bool, out: &mut String) {
        out.push('{');
        let mut first = !member || self.is_empty();
        if !first {
            out.push_str(r#"".":{}"#);
        }
        for (element, node) in &self.0 {
            if !std::mem::take(&mut first) {
                out.push(',');
            }
            match element {
                // Nearly all are names of fields, which need no text of their own.
                PathElement::Field(name) if notation::is_plain(name) => {
                    out.push_str("\"f:");
                    out.push_str(name);
                    out.push('"');
                }
                _ => notation::write_str(out, &element.wire()),
            }
            out.push(':');
            node.below.write(node.member, out);
        }
        out.push('}');
    }

    /// Return the set of a `fieldsV1`; `None` if it is malformed. Path elements of unknown kinds are skipped.
    pub fn from_value(value: &Value) -> Option<Self> {
        let text = match value {
            Value::Raw(text) => Cow::Borrowed(text.as_str()),
            other => {
                let mut out = String::new();
                notation::write(&mut out, other);
                Cow::Owned(out)
            }
        };
        let mut reader = Reader::new(&text);
        let (set, _) = read(&mut reader, 0)?;
        reader.is_done().then_some(set)
    }
}

/// Return the set below a node, and whether the node itself is a member.
fn read(reader: &mut Reader<'_>, depth: usize) -> Option<(FieldSet, bool)> {
    if depth > MAX_DEPTH {
        return None;
    }
    if reader.take("null") {
        return Some((FieldSet::new(), true));
    }
    let (mut nodes, mut member) = (Vec::new(), false);
    if !reader.take("{") {
        return None;
    }
    let mut more = !reader.take("}");
    while more {
        let key = reader.string()?;
        if !reader.take(":") {
            return None;
        }
        if key == "." {
            member = true;
            reader.value(0)?;
        } else if let Parsed::Known(element) = PathElement::parse(&key)? {
            let (below, is_member) = read(reader, depth + 1)?;
            nodes.push((element, is_member, below));
        } else {
            reader.value(0)?;
        }
        more = reader.take(",");
        if !more && !reader.take("}") {
            return None;
        }
    }
    let out = FieldSet::of_nodes(nodes.into_iter());
    // A node with nothing below it is a member.
    let member = member || out.is_empty();
    Some((out, member))
}

/// Return the names of the fields at the start of the paths of a `fieldsV1`; `None` if it is malformed or paths start
/// with other elements.
pub(crate) fn first_fields(text: &str) -> Option<Vec<&str>> {
    let mut out = Vec::new();
    let (mut depth, mut at) = (0usize, 0);
    let bytes = text.as_bytes();
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.checked_sub(1)?,
            b'"' => {
                let start = at + 1;
                at = start;
                while *bytes.get(at)? != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                if depth == 1 {
                    let name = text.get(start..at)?.strip_prefix("f:")?;
                    if name.contains('\\') {
                        return None;
                    }
                    out.push(name);
                }
            }
            _ => {}
        }
        at += 1;
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::first_fields;

    #[test]
    fn first_fields_are_found_without_reading_what_is_below() {
        let text = r#"{"f:metadata":{"f:labels":{".":{},"f:a\"}":{}}},"f:spec":{}}"#;
        assert_eq!(first_fields(text), Some(vec!["metadata", "spec"]));
        assert_eq!(first_fields("{}"), Some(vec![]));
        for other in [r#"{"k:{}":{}}"#, r#"{".":{}}"#, r#"{"f:a\\b":{}}"#, r#"{"f:a"#, "}"] {
            assert_eq!(first_fields(other), None, "{other}");
        }
    }
}
