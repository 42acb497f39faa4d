//! Validation of values by a schema (kube-openapi `pkg/validation/validate`), with its texts and its quirks.

#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]
#![allow(clippy::indexing_slicing, reason = "the place was found in the list, or the length looked at before")]

mod junction;
mod number;
mod result;

use std::fmt::Write as _;

use hydrofoil_text::quoted;
use hydrofoil_types::{Causes, Path, Value};

use super::structural::{Additional, Kind, Node, Rules};

use self::result::{Problem, Result};

/// The old value, if the two can be correlated as the same part of an object.
pub(super) type Old<'a> = Option<&'a Value>;

/// Add the causes of an invalid value. `under` is the path of the value; with `old`, errors in parts that are unchanged
/// are ignored (`pkg/apiserver/validation/ratcheting.go`).
pub fn check(value: &Value, old: Old<'_>, schema: &Node, under: Option<&str>, causes: &mut Causes) {
    let mut walk = Walk { path: String::new(), root: true };
    let result = walk.value(value, old, schema);
    result.report(under, causes);
}

/// The path in the object: names joined by dots, as upstream writes it.
struct Walk {
    path: String,
    /// Whether the walk began at the whole object, whose type cannot be ratcheted.
    root: bool,
}

impl Walk {
    fn within<T>(&mut self, step: impl FnOnce(&mut String), f: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        step(&mut self.path);
        let out = f(self);
        self.path.truncate(length);
        out
    }

    fn value(&mut self, value: &Value, old: Old<'_>, schema: &Node) -> Result {
        let result = self.plain(value, old, schema);
        if !result.is_valid() && old.is_some_and(|old| correlates(value, old, schema)) {
            // The unchanged value was invalid before.
            return Result { matches: result.matches, ..Result::default() };
        }
        result
    }

    fn plain(&mut self, value: &Value, old: Old<'_>, schema: &Node) -> Result {
        let mut result = Result::default();
        let typed = schema.kind.is_some() || schema.int_or_string;
        let formatted = schema.rules.as_ref().is_some_and(|r| r.format.is_some() || !r.number_format.is_empty());
        if matches!(value, Value::Null) {
            if typed && !schema.nullable {
                result.add(self.wrong_type(&types(schema), "null"));
            }
            if let Some(rules) = &schema.rules {
                self.enums(value, rules, &mut result);
            }
            return result;
        }
        if typed || formatted {
            self.kind(value, schema, &mut result);
            result.matches += 1;
        }
        if let Some(rules) = &schema.rules {
            junction::check(self, value, old, rules, &mut result);
            match value {
                Value::Str(text) => {
                    self.text(text, rules, &mut result);
                    result.matches += 1;
                    if let Some((format, name)) = &rules.format {
                        if !format.allows(text) {
                            result.add(self.wrong_type(name, text));
                        }
                        result.matches += 1;
                    }
                }
                Value::Int(_) | Value::Float(_) => result.matches += 2,
                _ => {}
            }
        }
        number::check(&self.path, value, schema.kind, schema.rules.as_deref(), &mut result);
        match value {
            Value::Array(items) => self.items(items, old, schema, &mut result),
            Value::Object(map) => self.members(map, old, schema, &mut result),
            _ => {}
        }
        if let Some(rules) = &schema.rules {
            self.enums(value, rules, &mut result);
        }
        result.matches += 3;
        result
    }

    /// `typeValidator`.
    fn kind(&self, value: &Value, schema: &Node, result: &mut Result) {
        let (found, found_format) = match value {
            Value::Bool(_) => ("boolean", ""),
            Value::Str(_) => ("string", ""),
            Value::Int(_) => ("integer", "int64"),
            Value::Float(_) => ("number", "float64"),
            Value::Array(_) => ("array", ""),
            Value::Object(_) | Value::Raw(_) | Value::Null => ("object", ""),
        };
        let has = |kind: Kind| {
            schema.kind == Some(kind) && !schema.int_or_string
                || schema.int_or_string && matches!(kind, Kind::Integer | Kind::String)
        };
        let named = [Kind::Object, Kind::Array, Kind::String, Kind::Integer, Kind::Number, Kind::Boolean]
            .into_iter()
            .any(|k| has(k) && k.name() == found);
        let whole = matches!(value, Value::Float(f) if number::is_whole(f.get())) && has(Kind::Integer);
        let counts = matches!(value, Value::Int(_)) && has(Kind::Number);
        let format = schema.rules.as_ref().map_or("", |r| match &r.format {
            Some((_, name)) => name.as_str(),
            None => r.number_format.as_str(),
        });
        let flat = matches!(value, Value::Str(_) | Value::Array(_));
        let numeric = has(Kind::Number) || has(Kind::Integer);
        let fits = named || whole || counts;
        if flat && !numeric && !format.is_empty() {
            // Only the format is checked.
            result.matches += 1;
        } else if !fits && !flat && !format.is_empty() && found_format != format {
            result.add(self.wrong_type(format, found_format));
        } else if !fits {
            result.add(self.wrong_type(&types(schema), found));
        } else {
            result.matches += 1;
        }
    }

    /// `errors.InvalidType`.
    fn wrong_type(&self, expected: &str, found: &str) -> Problem {
        let text = format!("{} in body must be of type {expected}: {}", self.path, quoted(found));
        Problem::kind(&self.path, Value::from(found), text)
    }

    fn text(&self, text: &str, rules: &Rules, result: &mut Result) {
        let path = &self.path;
        let length = || text.chars().count() as i64;
        if let Some(max) = rules.max_length.filter(|max| length() > *max) {
            return result.add(Problem::too_long(path, max));
        }
        if let Some(min) = rules.min_length.filter(|min| length() < *min) {
            let why = format!("{path} in body should be at least {min} chars long");
            return result.add(Problem::invalid(path, Value::from(text), why));
        }
        if let Some(pattern) = rules.pattern.as_ref().filter(|p| !p.matches(text)) {
            let why = format!("{path} in body should match '{}'", pattern.text());
            result.add(Problem::invalid(path, Value::from(text), why));
        }
    }

    /// `basicCommonValidator`.
    fn enums(&self, value: &Value, rules: &Rules, result: &mut Result) {
        let enums = &rules.enums;
        let allowed = match value {
            _ if enums.list.is_empty() => true,
            Value::Null => false,
            Value::Str(text) => enums.text(text).unwrap_or_else(|| enums.list.iter().any(|e| e == value)),
            _ => enums.list.iter().any(|e| number::equal(value, e)),
        };
        if !allowed {
            result.add(Problem::not_supported(&self.path, value, &enums.list));
        }
    }

    fn items(&mut self, items: &[Value], old: Old<'_>, schema: &Node, result: &mut Result) {
        let before = old.and_then(Value::as_array).map(|before| super::lists::counterparts(items, before, schema));
        if let Some(inner) = schema.items.as_deref() {
            for (i, item) in items.iter().enumerate() {
                let old = before.as_ref().and_then(|before| before[i]);
                let found = self.within(
                    |path| {
                        let _ = write!(path, "[{i}]");
                    },
                    |walk| walk.value(item, old, inner),
                );
                result.merge(found);
            }
        }
        let Some(rules) = &schema.rules else { return };
        let (path, size) = (&self.path, items.len() as i64);
        let counts = rules.counts.as_deref();
        if let Some(min) = counts.and_then(|c| c.min_items).filter(|min| size < *min) {
            let why = format!("{path} in body should have at least {min} items");
            result.add(Problem::invalid(path, Value::Int(size), why));
        }
        if let Some(max) = counts.and_then(|c| c.max_items).filter(|max| size > *max) {
            result.add(Problem::too_many(path, size, max, "items"));
        }
        result.matches += 1;
    }

    /// `objectValidator`.
    fn members(&mut self, map: &hydrofoil_types::Map, old: Old<'_>, schema: &Node, result: &mut Result) {
        let size = map.len() as i64;
        let path = &self.path;
        if let Some(counts) = schema.rules.as_ref().and_then(|r| r.counts.as_deref()) {
            if let Some(min) = counts.min_properties.filter(|min| size < *min) {
                let why = format!("{path} in body should have at least {min} properties");
                result.add(Problem::invalid(path, Value::Int(size), why));
            }
            if let Some(max) = counts.max_properties.filter(|max| size > *max) {
                result.add(Problem::too_many(path, size, max, "properties"));
            }
        }
        let before = old.and_then(Value::as_object);
        match &schema.additional {
            Additional::Any(false) => {
                for (key, _) in map {
                    if schema.property(key).is_none() {
                        let why = format!("{}.{key} in body is a forbidden property", self.path);
                        result.add(Problem::invalid(&self.path, Value::from(key.clone()), why));
                    }
                }
            }
            Additional::Of(node) => {
                for (key, value) in map {
                    if schema.property(key).is_none() {
                        let old = before.and_then(|b| b.get(key));
                        let found =
                            self.within(|path| path.extend([".", key.as_str()]), |walk| walk.value(value, old, node));
                        result.merge(found);
                    }
                }
            }
            _ => {}
        }
        let root = self.root && self.path.is_empty();
        for (key, node) in &schema.properties {
            let Some(value) = map.get(key) else { continue };
            let fixed = root && matches!(key.as_str(), "kind" | "apiVersion");
            let old = before.filter(|_| !fixed).and_then(|b| b.get(key));
            let found = self.within(
                |path| {
                    if !path.is_empty() {
                        path.push('.');
                    }
                    path.push_str(key);
                },
                |walk| walk.value(value, old, node),
            );
            result.merge(found);
        }
        if let Some(rules) = &schema.rules {
            for key in &rules.required {
                if !map.contains_key(key) {
                    result.add(Problem::missing_member(&format!("{}.{key}", self.path)));
                }
            }
        }
    }
}

/// Report whether a part is unchanged, as far as it can be correlated (`CorrelatedObject.CachedDeepEqual`).
pub(super) fn correlates(value: &Value, old: &Value, schema: &Node) -> bool {
    match (value, old) {
        (Value::Null, Value::Null) => true,
        (Value::Array(new), Value::Array(before)) => {
            if schema.list_keys().is_none() || schema.items.is_none() {
                return value == old;
            }
            let inner = schema.items.as_deref();
            new.len() == before.len()
                && new
                    .iter()
                    .zip(super::lists::counterparts(new, before, schema))
                    .all(|(item, other)| other.zip(inner).is_some_and(|(other, inner)| correlates(item, other, inner)))
        }
        (Value::Object(new), Value::Object(before)) => {
            new.len() == before.len()
                && new.iter().all(|(key, value)| {
                    before.get(key).zip(schema.member(key)).is_some_and(|(other, node)| correlates(value, other, node))
                })
        }
        (Value::Object(_) | Value::Array(_) | Value::Null, _)
        | (_, Value::Object(_) | Value::Array(_) | Value::Null) => false,
        _ => value == old,
    }
}

/// Return the types of a node as upstream joins them.
fn types(schema: &Node) -> String {
    if schema.int_or_string {
        return "integer,string".to_owned();
    }
    schema.kind.map_or(String::new(), |k| k.name().to_owned())
}

/// Return the path of a cause: the path of the value and the name found below it.
pub(super) fn join_path(under: Option<&str>, name: &str) -> String {
    let name = if name == "." { "" } else { name.strip_prefix('.').unwrap_or(name) };
    match (under, name.is_empty()) {
        // Upstream prints an empty path so.
        (None, true) => "<nil>".to_owned(),
        (None, false) => name.to_owned(),
        (Some(under), true) => under.to_owned(),
        (Some(under), false) => format!("{under}.{name}"),
    }
}

/// Add a cause at a path in text form.
pub(super) fn push(causes: &mut Causes, path: &str, f: impl FnOnce(&mut Causes, &Path<'_>)) {
    f(causes, &Path::new(path));
}
