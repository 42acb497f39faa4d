//! The keys of a map: any scalar in YAML, texts in JSON (sigs.k8s.io/yaml `yaml.go`, `convertToJSONableObject`).

use std::fmt::Write as _;

use hydrofoil_text::quoted;
use hydrofoil_types::{SmolStr, Value, go};

use super::resolve::Scalar;

/// The type of a key: keys of two types are two members until they become JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Type {
    Str,
    Int,
    Uint,
    Float,
    Bool,
    Null,
}

/// A key with its text in JSON.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub kind: Type,
    pub text: SmolStr,
}

impl Key {
    pub fn of(scalar: Scalar) -> Self {
        let (kind, text) = match scalar {
            Scalar::Str(text) => (Type::Str, text),
            Scalar::Int(n) => (Type::Int, n.to_string().into()),
            Scalar::Uint(n) => (Type::Uint, format!("{n:#x}").into()),
            Scalar::Float(f) => (Type::Float, short(f).into()),
            Scalar::Bool(b) => (Type::Bool, if b { "true" } else { "false" }.into()),
            Scalar::Null => (Type::Null, "<nil>".into()),
        };
        Self { kind, text }
    }

    /// Return the key with the text that Go's `%#v` prints within a map, for a map that only an error shows.
    pub fn literal(scalar: Scalar) -> Self {
        let float = if let Scalar::Float(f) = scalar { Some(f) } else { None };
        let key = Self::of(scalar);
        let text = match (key.kind, float) {
            (Type::Null, _) => "interface {}(nil)".to_owned(),
            (_, Some(f)) if f.is_finite() => go::float(f),
            (_, Some(f)) => go::infinity(f).to_owned(),
            _ => key.syntax(),
        };
        Self { text: text.into(), ..key }
    }

    /// Return the key as Go's `%#v` prints it.
    pub fn syntax(&self) -> String {
        if self.kind == Type::Str { quoted(&self.text) } else { self.text.to_string() }
    }

    /// Return the error of a key that JSON cannot have.
    pub fn refusal(&self, value: &Value) -> Option<String> {
        let name = match self.kind {
            Type::Null => "%!s(<nil>)",
            Type::Uint => "uint64",
            _ => return None,
        };
        let value = if *value == Value::Null { "<nil>".to_owned() } else { syntax(value, quoted) };
        Some(format!("unsupported map key of type: {name}, key: {}, value: {value}", self.syntax()))
    }
}

/// Format a number with the digits of 32 bits, as upstream does for keys.
fn short(f: f64) -> String {
    let single = f as f32;
    if f.is_nan() {
        ".nan".to_owned()
    } else if single.is_infinite() {
        if f > 0.0 { ".inf" } else { "-.inf" }.to_owned()
    } else {
        // Its shortest digits are those of the 32 bits.
        single.to_string().parse().map_or_else(|_| single.to_string(), general)
    }
}

/// Format a number as Go's `%g` with the fewest digits does: with an exponent below 1e-4 and from 1e21 up.
fn general(f: f64) -> String {
    let size = f.abs();
    if (1e6..1e21).contains(&size) { format!("{f}") } else { go::float(f) }
}

/// Return a value as Go's `%#v` prints what the library decodes it to, keys by a function.
pub(super) fn syntax(value: &Value, key: fn(&str) -> String) -> String {
    let mut out = String::new();
    write(&mut out, value, key);
    out
}

fn write(out: &mut String, value: &Value, key: fn(&str) -> String) {
    match value {
        Value::Null => out.push_str("interface {}(nil)"),
        // Writing to a string cannot fail.
        Value::Bool(b) => drop(write!(out, "{b}")),
        Value::Int(n) => drop(write!(out, "{n}")),
        Value::Float(f) => out.push_str(&go::float(f.get())),
        Value::Str(text) => out.push_str(&quoted(text)),
        Value::Raw(text) => out.push_str(text),
        Value::Array(items) => {
            out.push_str("[]interface {}{");
            for (i, item) in items.iter().enumerate() {
                out.push_str(if i > 0 { ", " } else { "" });
                write(out, item, key);
            }
            out.push('}');
        }
        Value::Object(map) => {
            out.push_str("map[interface {}]interface {}{");
            let mut members: Vec<_> = map.iter().collect();
            members.sort_by(|a, b| a.0.cmp(&b.0));
            for (i, (name, member)) in members.into_iter().enumerate() {
                out.push_str(if i > 0 { ", " } else { "" });
                out.push_str(&key(name));
                out.push(':');
                write(out, member, key);
            }
            out.push('}');
        }
    }
}
