//! Decode JSON text to a value, by a schema (sigs.k8s.io/json: case-sensitive, integers kept).

#![allow(clippy::arithmetic_side_effects, reason = "places in a body and depths are bounded by its bytes")]
#![allow(clippy::indexing_slicing, reason = "the cursor never passes the end of the body")]

mod generic;
mod mismatch;
mod moment;
pub(super) mod special;

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use hydrofoil_types::{Arena, Field, Finite, Map, Nature, Schema, Shape, SmolStr, TypeDef, Value};

use super::lex::{Lexer, MAX_DEPTH, Number};
use crate::{DecodeError, Decoded};
use mismatch::{MAX_STRICT, Step};

/// Decode a body of a known type.
pub fn decode(schema: &Schema, text: &[u8]) -> Result<Decoded, DecodeError> {
    let mut d = Decoder::new(text, Some(&schema.arena));
    let value = d.typed_root(schema)?;
    d.finish(value)
}

/// Decode the output of `encode` by the same schema: members that are kept as text are not parsed.
pub fn decode_stored(schema: &Schema, text: &[u8]) -> Result<Value, DecodeError> {
    let mut d = Decoder::new(text, Some(&schema.arena));
    d.stored = true;
    let value = d.typed_root(schema)?;
    d.finish(value).map(|decoded| decoded.value)
}

/// Decode any JSON. Duplicate members are reported, the last one is used.
pub fn parse(text: &[u8]) -> Result<Decoded, DecodeError> {
    let mut d = Decoder::new(text, None);
    let value = d.any(0)?;
    d.finish(value)
}

/// Return the error in the text of one value, by a shape, without its path.
pub(super) fn problem(arena: &Arena, shape: &Shape, text: &[u8]) -> Option<String> {
    let mut d = Decoder::new(text, Some(arena));
    match d.value(shape, 0) {
        Ok(_) => d.aborted.or(d.type_error),
        Err(e) => Some(e.to_string()),
    }
}

/// The number of members from which those not in the schema are indexed to find duplicates.
const FEW: usize = 32;

/// A field that is repeated.
struct Twice {
    field: usize,
    place: Option<usize>,
    /// Whether the last value was null.
    gone: bool,
}

impl Twice {
    /// Decode a second object or map into the first, as Go does; anything else replaces it.
    fn lay_over(&mut self, members: &mut Vec<(SmolStr, Value)>, field: &Field, value: Value) {
        match self.place {
            Some(at) if std::mem::take(&mut self.gone) => members[at].1 = value,
            Some(at) => overlay(&mut members[at].1, value),
            None => {
                self.place = Some(members.len());
                self.gone = false;
                members.push((field.name.clone(), value));
            }
        }
    }
}

/// The members so far that the schema does not name.
#[derive(Default)]
struct OpenMembers {
    places: HashMap<SmolStr, usize>,
    /// The members that are already reported as duplicate.
    reported: HashSet<SmolStr>,
}

impl OpenMembers {
    /// Return the place of a member if it is present; otherwise record that it will be the last one.
    fn place(&mut self, key: &SmolStr, members: &[(SmolStr, Value)]) -> Option<usize> {
        if self.places.is_empty() {
            self.places.extend(members.iter().enumerate().map(|(at, (key, _))| (key.clone(), at)));
        }
        match self.places.entry(key.clone()) {
            Entry::Occupied(found) => Some(*found.get()),
            Entry::Vacant(free) => {
                free.insert(members.len());
                None
            }
        }
    }
}

pub(super) struct Decoder<'a> {
    pub(super) lex: Lexer<'a>,
    pub(super) arena: Option<&'a Arena>,
    path: Vec<Step>,
    pub(super) strict: Vec<String>,
    type_error: Option<String>,
    /// The first error of a type that decodes itself: Go ends there, whatever it had found before.
    aborted: Option<String>,
    /// Whether a type that decodes itself is being decoded: Go's errors then name the struct that has it.
    within: bool,
    pub(super) owner: Option<&'a str>,
    /// Whether the object is a custom resource, whose metadata upstream decodes separately.
    pub(super) apart: bool,
    /// Whether this server wrote the text.
    pub(super) stored: bool,
}

impl<'a> Decoder<'a> {
    fn new(text: &'a [u8], arena: Option<&'a Arena>) -> Self {
        let lex = Lexer::new(text);
        Self {
            lex,
            arena,
            path: Vec::new(),
            strict: Vec::new(),
            type_error: None,
            aborted: None,
            within: false,
            owner: None,
            apart: false,
            stored: false,
        }
    }

    fn finish(mut self, value: Value) -> Result<Decoded, DecodeError> {
        if self.lex.peek().is_some() {
            return Err(self.lex.unexpected_character("after top-level value"));
        }
        match self.aborted.or(self.type_error) {
            Some(message) => Err(DecodeError::Type(message)),
            None => Ok(Decoded { value, strict: self.strict }),
        }
    }

    fn typed_root(&mut self, schema: &'a Schema) -> Result<Value, DecodeError> {
        let def = schema.arena.get(schema.root);
        self.owner = Some(def.go_name());
        self.apart = def.nature == Nature::Open;
        match self.lex.peek() {
            Some(b'{') => self.strukt(def, 0),
            _ => self.mismatch(&Shape::Type(schema.root), 0),
        }
    }

    /// Decode a value of a shape. `None` is null: the caller knows its meaning there.
    pub(super) fn value(&mut self, shape: &Shape, depth: usize) -> Result<Option<Value>, DecodeError> {
        if depth > MAX_DEPTH {
            return Err(self.lex.unexpected_character("exceeded max depth"));
        }
        let Some(byte) = self.lex.peek() else { return Err(Lexer::eof()) };
        if byte == b'n' && !matches!(shape, Shape::Any) {
            self.lex.literal("null")?;
            return Ok(None);
        }
        Ok(Some(match (shape, byte) {
            (Shape::Str, b'"') => Value::Str(self.lex.string()?),
            (Shape::Bytes, b'"') => {
                let text = self.lex.string()?;
                match special::bytes(&text) {
                    // No bytes are the zero value, which is written in maps and lists only.
                    Ok(canonical) if canonical.is_empty() => return Ok(None),
                    Ok(canonical) => Value::Str(canonical),
                    Err(message) => self.refuse(message),
                }
            }
            (Shape::Bytes, b'[') => self.octets(depth)?,
            (Shape::Bool, b't') => {
                self.lex.literal("true")?;
                Value::Bool(true)
            }
            (Shape::Bool, b'f') => {
                self.lex.literal("false")?;
                Value::Bool(false)
            }
            (Shape::Int32 | Shape::Int64, b'-' | b'0'..=b'9') => {
                let (span, number) = self.lex.number()?;
                match number {
                    Number::Int(n) if *shape == Shape::Int64 || i32::try_from(n).is_ok() => Value::Int(n),
                    _ => {
                        let message = self.mismatch_text(&format!("number {span}"), shape);
                        self.refuse(message)
                    }
                }
            }
            (Shape::Double, b'-' | b'0'..=b'9') => {
                let (span, number) = self.lex.number()?;
                if let Some(value) = number.value() {
                    value
                } else {
                    let message = self.mismatch_text(&format!("number {span}"), shape);
                    self.refuse(message)
                }
            }
            (Shape::List(item), b'[') => self.list(item, depth)?,
            (Shape::Map(value), b'{') => self.map(value, depth)?,
            (Shape::Any, _) => self.any(depth)?,
            (Shape::Type(id), _) => {
                let arena = self.arena.expect("a type stands in an arena");
                let def = arena.get(*id);
                match def.special {
                    Some(kind) => special::decode(self, arena, kind, shape, depth)?,
                    None if byte == b'{' && self.within => self.strukt(def, depth)?,
                    None if byte == b'{' => {
                        let outer = self.owner.replace(def.go_name());
                        let value = self.strukt(def, depth);
                        self.owner = outer;
                        value?
                    }
                    None => self.mismatch(shape, depth)?,
                }
            }
            _ => self.mismatch(shape, depth)?,
        }))
    }

    fn strukt(&mut self, def: &'a TypeDef, depth: usize) -> Result<Value, DecodeError> {
        let mut seen = vec![false; def.fields.len()];
        let mut twice: Vec<Twice> = Vec::new();
        let mut unknown: Vec<SmolStr> = Vec::new();
        let mut members: Vec<(SmolStr, Value)> = Vec::with_capacity(def.fields.len().min(8));
        let mut open = None;
        let mut hint = 0;
        self.members(|d, key| {
            let Some((i, field)) = def.field(&key, hint) else {
                if def.nature == Nature::Open {
                    return d.open(&mut members, &mut open, key, depth + 1);
                }
                let twice = unknown.contains(&key);
                if !twice && unknown.len() < MAX_STRICT {
                    unknown.push(key.clone());
                }
                d.path.push(Step::Field(key));
                if !twice {
                    d.note("unknown");
                }
                d.path.pop();
                return d.skip(depth + 1);
            };
            hint = i + 1;
            d.path.push(Step::Field(key));
            let again = std::mem::replace(&mut seen[i], true).then(|| {
                twice.iter().position(|t| t.field == i).unwrap_or_else(|| {
                    d.note("duplicate");
                    twice.push(Twice {
                        field: i,
                        place: members.iter().position(|(k, _)| *k == field.name),
                        gone: false,
                    });
                    twice.len() - 1
                })
            });
            let value = d.value(&field.shape, depth + 1)?;
            d.path.pop();
            match (value, again) {
                (Some(value), None) => members.push((field.name.clone(), value)),
                (Some(value), Some(at)) => twice[at].lay_over(&mut members, field, value),
                (None, Some(at)) if field.ptr => twice[at].gone = true,
                (None, _) => {}
            }
            Ok(())
        })?;
        if twice.iter().any(|t| t.gone) {
            let gone = |name: &SmolStr| twice.iter().any(|t| t.gone && def.fields[t.field].name == *name);
            members.retain(|(name, _)| !gone(name));
        }
        Ok(Value::Object(Map::from_unique(members)))
    }

    /// Decode a member that the schema does not name; the last of duplicates is used.
    fn open(
        &mut self,
        members: &mut Vec<(SmolStr, Value)>,
        known: &mut Option<Box<OpenMembers>>,
        key: SmolStr,
        depth: usize,
    ) -> Result<(), DecodeError> {
        let twice = if members.len() < FEW {
            members.iter().position(|(k, _)| *k == key)
        } else {
            known.get_or_insert_default().place(&key, members)
        };
        self.path.push(Step::Field(key.clone()));
        if twice.is_some() && known.get_or_insert_default().reported.insert(key.clone()) {
            self.note("duplicate");
        }
        let value = self.any(depth)?;
        self.path.pop();
        match twice {
            Some(at) => members[at].1 = value,
            None => members.push((key, value)),
        }
        Ok(())
    }

    fn list(&mut self, item: &Shape, depth: usize) -> Result<Value, DecodeError> {
        let mut items = Vec::new();
        self.items(|d, i| {
            d.path.push(Step::Index(i));
            let value = d.value(item, depth + 1)?;
            d.path.pop();
            items.push(value.unwrap_or_else(|| d.zero(item)));
            Ok(())
        })?;
        Ok(Value::Array(items))
    }

    /// Decode bytes given as a list of numbers, which Go also accepts.
    fn octets(&mut self, depth: usize) -> Result<Value, DecodeError> {
        let mut bytes = Vec::new();
        self.items(|d, i| {
            d.path.push(Step::Index(i));
            match d.any(depth + 1)? {
                Value::Null => bytes.push(0),
                Value::Int(n) if u8::try_from(n).is_ok() => bytes.extend(u8::try_from(n)),
                other => {
                    let found = match other {
                        Value::Str(_) => "string".to_owned(),
                        Value::Bool(_) => "bool".to_owned(),
                        Value::Array(_) => "array".to_owned(),
                        Value::Object(_) => "object".to_owned(),
                        Value::Int(n) => format!("number {n}"),
                        _ => "number".to_owned(),
                    };
                    let message = d.unmarshal_text(&found, "uint8");
                    d.refuse(message);
                }
            }
            d.path.pop();
            Ok(())
        })?;
        Ok(special::base64(&bytes))
    }

    fn map(&mut self, shape: &Shape, depth: usize) -> Result<Value, DecodeError> {
        let mut members: Vec<(SmolStr, Value)> = Vec::new();
        self.members(|d, key| {
            d.path.push(Step::Key(key.clone()));
            let value = d.value(shape, depth + 1)?.unwrap_or_else(|| d.zero(shape));
            d.path.pop();
            members.push((key, value));
            Ok(())
        })?;
        self.unique(&mut members);
        Ok(Value::Object(Map::from_unique(members)))
    }

    /// Sort the members and keep the last of each key; report the duplicates.
    pub(super) fn unique(&mut self, members: &mut Vec<(SmolStr, Value)>) {
        if members.is_sorted_by(|a, b| a.0 < b.0) {
            return;
        }
        members.sort_by(|a, b| a.0.cmp(&b.0));
        let mut twice: Vec<SmolStr> = Vec::new();
        members.dedup_by(|later, first| {
            let same = later.0 == first.0;
            if same {
                std::mem::swap(&mut later.1, &mut first.1);
                if twice.last() != Some(&first.0) {
                    twice.push(first.0.clone());
                }
            }
            same
        });
        for key in twice {
            self.path.push(Step::Key(key));
            self.note("duplicate");
            self.path.pop();
        }
    }

    fn zero(&self, shape: &Shape) -> Value {
        match shape {
            // Bytes are read back from the storage as empty, not absent.
            Shape::Str | Shape::Bytes => Value::str(""),
            Shape::Int32 | Shape::Int64 => Value::Int(0),
            Shape::Bool => Value::Bool(false),
            Shape::Double => Value::Float(Finite::default()),
            Shape::List(_) | Shape::Map(_) | Shape::Any => Value::Null,
            Shape::Type(id) => match self.arena.map(|a| a.get(*id).special) {
                Some(None) => Value::object(),
                Some(Some(kind)) => special::zero(kind),
                None => Value::Null,
            },
        }
    }

    /// Decode a type that decodes itself: nothing in it is strict, and an error in it is the error of the body.
    pub(super) fn itself(
        &mut self,
        decode: impl FnOnce(&mut Self) -> Result<Value, DecodeError>,
    ) -> Result<Value, DecodeError> {
        let (strict, before) = (self.strict.len(), self.type_error.take());
        let outer = std::mem::replace(&mut self.within, true);
        let value = decode(self)?;
        self.within = outer;
        self.strict.truncate(strict);
        if let Some(message) = std::mem::replace(&mut self.type_error, before) {
            self.aborted.get_or_insert(message);
        }
        Ok(value)
    }

    /// Keep the first type error; Go continues, so that a later syntax error takes precedence.
    pub(super) fn refuse(&mut self, message: String) -> Value {
        self.type_error.get_or_insert(message);
        Value::Null
    }

    /// Keep the error of a type that decodes itself: Go ends with it, whatever it found before.
    pub(super) fn abort(&mut self, message: String) -> Value {
        self.aborted.get_or_insert(message);
        Value::Null
    }

    pub(super) fn mismatch(&mut self, shape: &Shape, depth: usize) -> Result<Value, DecodeError> {
        let found = match self.lex.peek() {
            Some(b'"') => "string",
            Some(b't' | b'f') => "bool",
            Some(b'[') => "array",
            Some(b'{') => "object",
            _ => "number",
        };
        self.skip(depth)?;
        let message = self.mismatch_text(found, shape);
        Ok(self.refuse(message))
    }
}

/// Merge a repeated member into the earlier one.
fn overlay(old: &mut Value, new: Value) {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            for (key, value) in new {
                match old.get_mut(&key) {
                    Some(slot) => overlay(slot, value),
                    None => old.push(key, value),
                }
            }
        }
        (old, new) => *old = new,
    }
}
