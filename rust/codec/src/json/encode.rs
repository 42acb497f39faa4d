//! Encode a value as canonical JSON: Go's field order, omissions and escapes.

#![allow(clippy::arithmetic_side_effects, reason = "places in a body and depths are bounded by its bytes")]
#![allow(clippy::indexing_slicing, reason = "the cursor never passes the end of the body")]

use std::borrow::Cow;

use hydrofoil_types::{Arena, Field, Map, Nature, Schema, Shape, SmolStr, Special, TypeDef, Value, Zero, compact, go};

use super::decode::special::props;

/// JSON ready to be stored, without its resource version.
#[derive(Debug)]
pub struct Stored {
    /// The object with an empty resource version.
    pub json: Vec<u8>,
    /// The offset of the resource version.
    pub rv_at: usize,
    /// The same JSON with raw members as given, if `json` has them in another form.
    pub given: Option<Vec<u8>>,
}

/// Return the canonical JSON of an object, without a final newline.
pub fn encode(schema: &Schema, value: &Value) -> Vec<u8> {
    let sorted = schema.root().nature != Nature::Struct;
    let mut w = Writer { arena: Some(&schema.arena), sorted, ..Writer::new(1024) };
    w.strukt(schema.root(), value.as_object());
    w.out
}

/// Return the canonical JSON of an object with a gap for its resource version.
///
/// # Panics
/// If the type has no `metadata`: such types are not stored.
pub fn encode_stored(schema: &Schema, value: &Value) -> Stored {
    let sorted = schema.root().nature != Nature::Struct;
    let write = |raw| {
        let mut w = Writer { arena: Some(&schema.arena), rv_at: Some(0), sorted, raw, ..Writer::new(1024) };
        w.strukt(schema.root(), value.as_object());
        w
    };
    let w = write(Raw::Compact);
    // The metadata precedes all raw members, so the offset of the resource version is the same in both.
    let given = (w.raw == Raw::Changed).then(|| write(Raw::Given).out);
    Stored { json: w.out, rv_at: w.rv_at.filter(|at| *at > 0).expect("a stored object has metadata"), given }
}

/// Return the JSON of a value without a schema, members in their order.
pub fn encode_any(value: &Value) -> Vec<u8> {
    let mut w = Writer::new(256);
    w.any(value);
    w.out
}

/// Do the same with numbers that are read again as what they are: `1.0` does not become the integer 1.
pub fn encode_exact(value: &Value) -> Vec<u8> {
    let mut w = Writer::new(256);
    w.exact = true;
    w.any(value);
    w.out
}

/// The number of members of a struct from which the index of the object is used.
const MANY: usize = 48;

/// Return a member of a struct whose members are `given`: a few are scanned here, for each field of the type.
#[inline]
pub(crate) fn find_member<'m>(all: Option<&'m Map>, given: &'m [(SmolStr, Value)], name: &str) -> Option<&'m Value> {
    if given.len() > MANY { all?.get(name) } else { given.iter().find(|(key, _)| key == name).map(|(_, value)| value) }
}

struct Writer<'a> {
    out: Vec<u8>,
    arena: Option<&'a Arena>,
    /// `Some(0)` until the offset of the resource version is known.
    rv_at: Option<usize>,
    /// Whether unknown members are sorted by name, as in a Go map.
    sorted: bool,
    /// Whether a whole number that is a float is written as one.
    exact: bool,
    raw: Raw,
}

/// The form of raw members, which are kept as given.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Raw {
    /// As given.
    Given,
    /// Compact, as Go passes them on.
    Compact,
    /// Compact, and one of them was changed by it.
    Changed,
}

impl Writer<'_> {
    fn new(capacity: usize) -> Self {
        Self {
            out: Vec::with_capacity(capacity),
            arena: None,
            rv_at: None,
            sorted: false,
            exact: false,
            raw: Raw::Compact,
        }
    }

    fn raw(&mut self, text: &str) {
        if self.raw == Raw::Given {
            return self.out.extend_from_slice(text.as_bytes());
        }
        let written = compact(text);
        if matches!(written, Cow::Owned(_)) {
            self.raw = Raw::Changed;
        }
        self.out.extend_from_slice(written.as_bytes());
    }

    /// Write an object whose members are kept as given, whatever they are.
    fn members(&mut self, def: &TypeDef, map: &Map) {
        self.out.push(b'{');
        let mut first = true;
        in_order(map, |key, value| {
            self.member(&mut first, key);
            match def.field(key, 0) {
                Some((_, field)) => self.value(&field.shape, value),
                None => self.any(value),
            }
        });
        self.out.push(b'}');
    }

    fn strukt(&mut self, def: &TypeDef, members: Option<&Map>) {
        if def.nature != Nature::Struct {
            return self.members(def, members.unwrap_or(&Map::new()));
        }
        self.out.push(b'{');
        let mut first = true;
        let is_meta = self.rv_at == Some(0) && def.name == "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
        let mut hint = 0;
        let given = members.map_or(&[][..], |m| m.iter().as_slice());
        for field in &def.fields {
            if is_meta && field.name == "resourceVersion" {
                self.member(&mut first, "resourceVersion");
                self.out.push(b'"');
                self.rv_at = Some(self.out.len());
                self.out.push(b'"');
                continue;
            }
            // Decoded members are mostly in Go's order: try the next one first.
            let value = match given.get(hint) {
                Some((k, v)) if *k == field.name => {
                    hint += 1;
                    Some(v)
                }
                _ => find_member(members, given, &field.name),
            };
            // Upstream stores objects as protobuf, which does not distinguish an empty list or map from an absent one.
            let list = matches!(field.shape, Shape::List(_) | Shape::Map(_));
            let none = |v: &&Value| matches!(v, Value::Null) || (list && !field.ptr && v.is_zero());
            self.field(&mut first, field, value.filter(|v| !none(v)));
        }
        self.out.push(b'}');
    }

    fn field(&mut self, first: &mut bool, field: &Field, value: Option<&Value>) {
        let zero = match self.arena {
            Some(arena) => arena.zero(&field.shape),
            None => Zero::Null,
        };
        match value {
            None if field.ptr => {
                if !field.omitempty {
                    self.member(first, &field.name);
                    self.out.extend_from_slice(b"null");
                }
            }
            None => {
                // Go's omitempty keeps structs; only omitzero omits them.
                let by_struct = matches!(field.shape, Shape::Type(_));
                if field.omitzero || (field.omitempty && !by_struct) {
                    return;
                }
                self.member(first, &field.name);
                match zero {
                    Zero::Null => self.out.extend_from_slice(b"null"),
                    Zero::Struct => {
                        if let (Shape::Type(id), Some(arena)) = (&field.shape, self.arena) {
                            self.strukt(arena.get(*id), None);
                        }
                    }
                    Zero::Scalar => self.scalar_zero(&field.shape),
                }
            }
            Some(value) => {
                let drops = field.omitempty && !field.ptr && !matches!(field.shape, Shape::Type(_));
                if drops && value.is_zero() {
                    return;
                }
                self.member(first, &field.name);
                self.value(&field.shape, value);
            }
        }
    }

    fn scalar_zero(&mut self, shape: &Shape) {
        let text: &[u8] = match shape {
            Shape::Int32 | Shape::Int64 | Shape::Double => b"0",
            Shape::Bool => b"false",
            Shape::Type(id) => match self.arena.and_then(|a| a.get(*id).special) {
                Some(Special::Quantity) => b"\"0\"",
                Some(Special::Duration) => b"\"0s\"",
                _ => b"0",
            },
            _ => b"\"\"",
        };
        self.out.extend_from_slice(text);
    }

    fn member(&mut self, first: &mut bool, name: &str) {
        if !std::mem::take(first) {
            self.out.push(b',');
        }
        write_string(&mut self.out, name);
        self.out.push(b':');
    }

    fn value(&mut self, shape: &Shape, value: &Value) {
        match (shape, value) {
            (Shape::List(item), Value::Array(items)) => {
                self.out.push(b'[');
                for (i, v) in items.iter().enumerate() {
                    if i > 0 {
                        self.out.push(b',');
                    }
                    self.value(item, v);
                }
                self.out.push(b']');
            }
            (Shape::Map(of), Value::Object(map)) => self.map(of, map),
            (Shape::Double, Value::Float(f)) => self.out.extend_from_slice(go::json_float(f.get()).as_bytes()),
            (Shape::Type(id), _) => {
                let Some(arena) = self.arena else { return self.any(value) };
                let def = arena.get(*id);
                match (def.special, value) {
                    (None, Value::Object(map)) => self.strukt(def, Some(map)),
                    (None, Value::Null) => self.strukt(def, None),
                    (Some(Special::Raw), Value::Raw(text)) => self.raw(text),
                    (Some(Special::SchemaOrArray | Special::SchemaOrBool | Special::SchemaOrStrings), _) => {
                        let props = Shape::Type(props(arena));
                        match value {
                            Value::Object(_) => self.value(&props, value),
                            Value::Array(_) if def.special == Some(Special::SchemaOrArray) => {
                                self.value(&Shape::List(Box::new(props)), value);
                            }
                            _ => self.any(value),
                        }
                    }
                    _ => self.any(value),
                }
            }
            _ => self.any(value),
        }
    }

    fn map(&mut self, of: &Shape, map: &Map) {
        self.out.push(b'{');
        let mut first = true;
        in_order(map, |key, value| {
            self.member(&mut first, key);
            self.value(of, value);
        });
        self.out.push(b'}');
    }

    fn any(&mut self, value: &Value) {
        match value {
            Value::Null => self.out.extend_from_slice(b"null"),
            Value::Bool(true) => self.out.extend_from_slice(b"true"),
            Value::Bool(false) => self.out.extend_from_slice(b"false"),
            Value::Int(n) => self.out.extend_from_slice(itoa::Buffer::new().format(*n).as_bytes()),
            Value::Float(f) if self.exact => {
                let text = go::json_float(f.get());
                self.out.extend_from_slice(text.as_bytes());
                if !text.contains(['.', 'e']) {
                    self.out.extend_from_slice(b".0");
                }
            }
            // Upstream's untyped numbers are read again from their text, in which a negative zero is an integer.
            Value::Float(f) if f.get() == 0.0 => self.out.push(b'0'),
            Value::Float(f) => self.out.extend_from_slice(go::json_float(f.get()).as_bytes()),
            Value::Str(s) => write_string(&mut self.out, s),
            Value::Raw(text) => self.out.extend_from_slice(text.as_bytes()),
            Value::Array(items) => {
                self.out.push(b'[');
                for (i, v) in items.iter().enumerate() {
                    if i > 0 {
                        self.out.push(b',');
                    }
                    self.any(v);
                }
                self.out.push(b']');
            }
            Value::Object(map) => {
                self.out.push(b'{');
                let mut first = true;
                let sorted = self.sorted;
                let mut write = |key: &SmolStr, value: &Value| {
                    self.member(&mut first, key);
                    self.any(value);
                };
                if sorted {
                    in_order(map, write);
                } else {
                    map.iter().for_each(|(key, value)| write(key, value));
                }
                self.out.push(b'}');
            }
        }
    }
}

/// Visit the members of a map sorted by name.
fn in_order(map: &Map, mut each: impl FnMut(&SmolStr, &Value)) {
    if map.iter().is_sorted_by(|a, b| a.0 < b.0) {
        for (key, value) in map {
            each(key, value);
        }
        return;
    }
    let mut members: Vec<_> = map.iter().collect();
    members.sort_by(|a, b| a.0.cmp(&b.0));
    for (key, value) in members {
        each(key, value);
    }
}

/// Bytes that are escaped, or begin what may be: U+2028 and U+2029 are e2 80 a8 and e2 80 a9.
const ESCAPED: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = byte < 0x20 || matches!(byte as u8, b'"' | b'\\' | b'<' | b'>' | b'&' | 0xe2);
        byte += 1;
    }
    table
};

/// Append a string with its quotes, escaped as Go's encoder does (HTML characters included).
pub fn write_string(out: &mut Vec<u8>, text: &str) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let bytes = text.as_bytes();
    out.reserve(bytes.len() + 2);
    out.push(b'"');
    // Most texts have nothing to escape.
    let Some(first) = bytes.iter().position(|&byte| ESCAPED[usize::from(byte)]) else {
        out.extend_from_slice(bytes);
        out.push(b'"');
        return;
    };
    let mut start = 0;
    for (i, &byte) in bytes.iter().enumerate().skip(first) {
        if !ESCAPED[usize::from(byte)]
            || (byte == 0xe2 && !(bytes[i + 1] == 0x80 && matches!(bytes[i + 2], 0xa8 | 0xa9)))
        {
            continue;
        }
        out.extend_from_slice(&bytes[start..i]);
        start = i + 1;
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            8 => out.extend_from_slice(b"\\b"),
            12 => out.extend_from_slice(b"\\f"),
            0xe2 => {
                out.extend_from_slice(if bytes[i + 2] == 0xa8 { b"\\u2028" } else { b"\\u2029" });
                start = i + 3;
            }
            _ => out.extend_from_slice(&[
                b'\\',
                b'u',
                b'0',
                b'0',
                HEX[usize::from(byte >> 4)],
                HEX[usize::from(byte & 15)],
            ]),
        }
    }
    out.extend_from_slice(&bytes[start..]);
    out.push(b'"');
}
