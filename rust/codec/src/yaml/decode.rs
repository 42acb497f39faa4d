//! The values of nodes (go.yaml.in/yaml/v2 `decode.go`, `decoder`).

#![allow(clippy::arithmetic_side_effects, reason = "counts are bounded by the limits on aliases")]

use std::collections::HashMap;

use hydrofoil_types::{Map, SmolStr, Value, go};

use super::fault::{conversion, yaml};
use super::key::{Key, Type, syntax};
use super::node::{Document, Id, Kind, Node};
use super::resolve::{Scalar, scalar};
use crate::DecodeError;

/// The most bytes of text that aliases repeat: upstream shares them, and writes as many.
const MAX_COPIED: usize = 32 << 20;
/// The number of members from which they are found by an index.
const FEW: usize = 16;

/// The decoder of a document.
pub(super) struct Decoder<'a> {
    nodes: &'a [Node],
    /// The aliases whose targets are being decoded.
    open: Vec<Id>,
    count: usize,
    aliased: usize,
    copied: usize,
    /// The errors of upstream's strict mode.
    strict: Vec<String>,
    /// The error of a key that JSON cannot have: the outermost one.
    unsupported: Option<String>,
    /// Whether a key is being decoded that only an error shows: its own keys are texts of Go.
    literal: bool,
    /// Whether numbers that JSON cannot have, or only as floats, are in the value as text.
    odd: bool,
}

/// The text of a number that is an integer to some readers and a float to others.
const MINUS_ZERO: &str = "-0";

/// The form of numbers whose text has more than their value: integers beyond 64 bits with a sign, and minus zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Large {
    /// Numbers as Go's decoder of JSON has them.
    Float,
    /// Their digits, for the text that such a decoder reads: the type of a field decides what they are.
    Digits,
}

/// Decode a document. Return its value and its strict errors.
pub(super) fn decode(document: &Document, large: Large) -> Result<(Value, Vec<String>), DecodeError> {
    let mut decoder = Decoder {
        nodes: &document.nodes,
        open: Vec::new(),
        count: 0,
        aliased: 0,
        copied: 0,
        strict: Vec::new(),
        unsupported: None,
        literal: false,
        odd: false,
    };
    let mut value = decoder.value(document.root)?;
    if let Some(why) = decoder.unsupported {
        return Err(conversion(&why));
    }
    if decoder.odd {
        settle(&mut value, large).map_err(|why| conversion(&why))?;
    }
    Ok((value, decoder.strict))
}

/// Replace the numbers that are kept as text, or return the error of the first that JSON cannot have.
fn settle(value: &mut Value, large: Large) -> Result<(), String> {
    match value {
        Value::Raw(text) if text == MINUS_ZERO => {
            if large == Large::Float {
                *value = Value::Int(0);
            }
            Ok(())
        }
        Value::Raw(text) => {
            let hex = text.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok());
            let Some(n) = hex else {
                return Err(format!("json: unsupported value: {text}"));
            };
            *value = match large {
                Large::Float => Value::Float(n.into()),
                Large::Digits => Value::Raw(n.to_string().into()),
            };
            Ok(())
        }
        Value::Array(items) => items.iter_mut().try_for_each(|item| settle(item, large)),
        Value::Object(map) => {
            // Go's encoder visits members by name.
            map.sort_keys();
            map.iter_mut().try_for_each(|(_, member)| settle(member, large))
        }
        _ => Ok(()),
    }
}

/// The members of a map in the order of their keys.
#[derive(Default)]
struct Members {
    list: Vec<(Key, Value)>,
    places: HashMap<Key, usize>,
}

impl Members {
    /// Set a member. Return whether it was there.
    fn set(&mut self, key: Key, value: Value) -> bool {
        let place = if self.list.len() <= FEW {
            self.list.iter().position(|(known, _)| *known == key)
        } else {
            if self.places.is_empty() {
                self.places.extend(self.list.iter().enumerate().map(|(at, (key, _))| (key.clone(), at)));
            }
            self.places.get(&key).copied()
        };
        if let Some(member) = place.and_then(|at| self.list.get_mut(at)) {
            member.1 = value;
            return true;
        }
        if self.list.len() >= FEW && !self.places.is_empty() {
            self.places.insert(key.clone(), self.list.len());
        }
        self.list.push((key, value));
        false
    }

    /// Return them as a JSON object, and the error of a key that it cannot have.
    fn object(self) -> (Value, Option<String>) {
        let refusal = self.list.iter().find_map(|(key, value)| key.refusal(value));
        let texts = self.list.iter().all(|(key, _)| key.kind == Type::Str);
        let members: Vec<(SmolStr, Value)> = self.list.into_iter().map(|(key, value)| (key.text, value)).collect();
        if texts {
            return (Value::Object(Map::from_unique(members)), refusal);
        }
        let mut map = Map::new();
        for (key, value) in members {
            map.set(key, value);
        }
        (Value::Object(map), refusal)
    }
}

impl<'a> Decoder<'a> {
    /// Count a node that is decoded, against documents that are small and mean much.
    fn spend(&mut self) -> Result<(), DecodeError> {
        self.count += 1;
        if !self.open.is_empty() {
            self.aliased += 1;
        }
        let ratio = self.aliased as f64 / self.count as f64;
        let many = self.aliased > 100 && self.count > 1000 && ratio > alias_share(self.count);
        if many || self.copied > MAX_COPIED {
            return Err(yaml("document contains excessive aliasing"));
        }
        Ok(())
    }

    fn node(&self, id: Id) -> Result<&'a Node, DecodeError> {
        self.nodes.get(id).ok_or_else(|| yaml("unknown problem parsing YAML content"))
    }

    fn scalar(&mut self, tag: &str, text: &SmolStr, implicit: bool) -> Result<Scalar, DecodeError> {
        if !self.open.is_empty() {
            self.copied += text.len();
        }
        scalar(tag, text, implicit)
    }

    /// Decode the target of an alias.
    fn through<T>(
        &mut self,
        alias: Id,
        name: &str,
        decode: impl FnOnce(&mut Self) -> Result<T, DecodeError>,
    ) -> Result<T, DecodeError> {
        if self.open.contains(&alias) {
            return Err(yaml(&format!("anchor '{name}' value contains itself")));
        }
        self.open.push(alias);
        let decoded = decode(self);
        self.open.pop();
        decoded
    }

    fn value(&mut self, id: Id) -> Result<Value, DecodeError> {
        self.spend()?;
        Ok(match &self.node(id)?.kind {
            Kind::Scalar { tag, text, implicit } => match self.scalar(tag, text, *implicit)? {
                Scalar::Null => Value::Null,
                Scalar::Bool(b) => Value::Bool(b),
                Scalar::Int(n) => Value::Int(n),
                Scalar::Str(text) => Value::Str(text),
                Scalar::Uint(n) => self.as_text(&format!("{n:#x}")),
                Scalar::Float(f) if f == 0.0 && f.is_sign_negative() => self.as_text(MINUS_ZERO),
                Scalar::Float(f) => number(f).unwrap_or_else(|| self.as_text(go::infinity(f))),
            },
            Kind::List(items) => Value::Array(items.iter().map(|item| self.value(*item)).collect::<Result<_, _>>()?),
            Kind::Map(_) => {
                let mut members = Members::default();
                self.members(id, &mut members)?;
                let (object, refusal) = members.object();
                if refusal.is_some() {
                    self.unsupported = refusal;
                }
                object
            }
            Kind::Alias { name, target } => self.through(id, name, |this| this.value(*target))?,
        })
    }

    fn as_text(&mut self, text: &str) -> Value {
        self.odd = true;
        Value::Raw(text.into())
    }

    fn key(&mut self, id: Id) -> Result<Key, DecodeError> {
        match &self.node(id)?.kind {
            Kind::Scalar { tag, text, implicit } => {
                self.spend()?;
                let found = self.scalar(tag, text, *implicit)?;
                Ok(if self.literal { Key::literal(found) } else { Key::of(found) })
            }
            Kind::Alias { name, target } => {
                self.spend()?;
                self.through(id, name, |this| this.key(*target))
            }
            Kind::List(_) | Kind::Map(_) => {
                self.literal = true;
                let found = self.value(id)?;
                Err(yaml(&format!("invalid map key: {}", syntax(&found, str::to_owned))))
            }
        }
    }

    /// Decode the members of a map into others, which they replace.
    fn members(&mut self, id: Id, into: &mut Members) -> Result<(), DecodeError> {
        let Kind::Map(children) = &self.node(id)?.kind else { return Ok(()) };
        for pair in children.chunks_exact(2) {
            let [key, value] = pair else { continue };
            if self.is_merge(*key)? {
                self.merge(*value, into)?;
                continue;
            }
            let (key, found) = (self.key(*key)?, self.value(*value)?);
            let shown = key.clone();
            if into.set(key, found) {
                let line = self.node(*value)?.line + 1;
                self.strict.push(format!("line {line}: key {} already set in map", shown.syntax()));
            }
        }
        Ok(())
    }

    fn is_merge(&self, id: Id) -> Result<bool, DecodeError> {
        Ok(match &self.node(id)?.kind {
            Kind::Scalar { tag, text, implicit } => text == "<<" && (*implicit || tag == "tag:yaml.org,2002:merge"),
            _ => false,
        })
    }

    fn merge(&mut self, id: Id, into: &mut Members) -> Result<(), DecodeError> {
        match &self.node(id)?.kind {
            Kind::List(items) => {
                // The first of several maps takes precedence.
                items.iter().rev().try_for_each(|item| self.merge_one(*item, into))
            }
            _ => self.merge_one(id, into),
        }
    }

    fn merge_one(&mut self, id: Id, into: &mut Members) -> Result<(), DecodeError> {
        self.spend()?;
        match &self.node(id)?.kind {
            Kind::Map(_) => self.members(id, into),
            Kind::Alias { name, target } if matches!(self.node(*target)?.kind, Kind::Map(_)) => {
                self.through(id, name, |this| {
                    this.spend()?;
                    this.members(*target, into)
                })
            }
            _ => Err(yaml("map merge requires map or sequence of maps as the value")),
        }
    }
}

/// Return a number as it is read from the JSON that upstream converts it to: `3.0` is written as 3, an integer.
fn number(f: f64) -> Option<Value> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if f.abs() <= EXACT && f.fract() == 0.0 {
        return Some(Value::Int(f as i64));
    }
    let value = Value::float(f)?;
    Some(go::json_float(f).parse().map_or(value, Value::Int))
}

/// Return the share of nodes that may come from aliases among as many (`allowedAliasRatio`).
fn alias_share(count: usize) -> f64 {
    const LOW: f64 = 400_000.0;
    const HIGH: f64 = 4_000_000.0;
    let count = count as f64;
    if count <= LOW {
        0.99
    } else if count >= HIGH {
        0.1
    } else {
        0.99 - 0.89 * ((count - LOW) / (HIGH - LOW))
    }
}
