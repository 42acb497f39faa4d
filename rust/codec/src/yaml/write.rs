//! Encode a value as YAML, in Go's style: block form, keys sorted.

#![allow(clippy::arithmetic_side_effects, reason = "places in a body and depths are bounded by its bytes")]

use hydrofoil_types::Value;

use super::{order, scalar};

/// The maximum length of a key without an explicit mark.
const MAX_SIMPLE_KEY: usize = 128;

/// Return a value as a YAML document.
pub fn write(value: &Value) -> Vec<u8> {
    let mut out = String::new();
    node(&mut out, value, 0, false);
    if !out.ends_with('\n') {
        out.push('\n');
    }
    out.into_bytes()
}

/// Append a value; `inline` if it follows `- `, so that its first line is already indented.
fn node(out: &mut String, value: &Value, indent: usize, inline: bool) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            let mut members: Vec<_> = map.iter().collect();
            members.sort_by(|(a, _), (b, _)| order::order(a, b));
            for (i, (key, member)) in members.into_iter().enumerate() {
                if i > 0 || !inline {
                    pad(out, indent);
                }
                if key.len() > MAX_SIMPLE_KEY || scalar::has_breaks(key) {
                    out.push_str("? ");
                    scalar::write(out, key, indent + 2, false);
                    out.push('\n');
                    pad(out, indent);
                    out.push_str(": ");
                    item(out, member, indent + 2);
                    continue;
                }
                scalar::write(out, key, indent, true);
                out.push(':');
                match member {
                    Value::Object(m) if !m.is_empty() => {
                        out.push('\n');
                        node(out, member, indent + 2, false);
                    }
                    Value::Array(a) if !a.is_empty() => {
                        out.push('\n');
                        node(out, member, indent, false);
                    }
                    _ => {
                        out.push(' ');
                        leaf(out, member, indent + 2);
                        out.push('\n');
                    }
                }
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for (i, value) in items.iter().enumerate() {
                if i > 0 || !inline {
                    pad(out, indent);
                }
                out.push_str("- ");
                item(out, value, indent + 2);
            }
        }
        _ => {
            leaf(out, value, indent);
            out.push('\n');
        }
    }
}

/// Append a value that begins on the line of its mark.
fn item(out: &mut String, value: &Value, indent: usize) {
    match value {
        Value::Object(m) if !m.is_empty() => node(out, value, indent, true),
        Value::Array(a) if !a.is_empty() => node(out, value, indent, true),
        _ => {
            leaf(out, value, indent);
            out.push('\n');
        }
    }
}

fn pad(out: &mut String, indent: usize) {
    out.extend(std::iter::repeat_n(' ', indent));
}

fn leaf(out: &mut String, value: &Value, indent: usize) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        Value::Int(n) => out.push_str(&n.to_string()),
        Value::Float(f) => out.push_str(&order::float(f.get())),
        Value::Str(s) => scalar::write(out, s, indent, false),
        // JSON is YAML.
        Value::Raw(s) => out.push_str(s),
        Value::Array(_) => out.push_str("[]"),
        Value::Object(_) => out.push_str("{}"),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn reads_back_what_it_writes() {
        let source = r#"{"a":"yes","b":"1","c":["x",{"k":"v","l":[1,[2]]}],"d":{},"e":[],"f":"line\nline\n","g":"a: b","h":"","i":"\t","j":"it's","k":"1e3","m":"2001-02-03","n":"- x","o":"\"q\"","p":null,"q":"tail\n\n","r":" lead","s":"0x1f","t":"10.0.0.1"}"#;
        let value = crate::json::parse(source.as_bytes()).unwrap().value;
        let text = super::write(&value);
        let back = crate::yaml::parse(&text).unwrap();
        assert_eq!(back.value, value, "{}", String::from_utf8_lossy(&text));
    }
}
