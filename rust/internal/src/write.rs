//! `json.Marshal` and `json.MarshalIndent` of internal types.

#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]

use hydrofoil_text::go_json_string;
use hydrofoil_types::Value;

use super::table::members;

pub(super) struct Writer {
    out: String,
    /// The indentation of the next line; `None` when all is on one line.
    depth: Option<usize>,
}

impl Writer {
    pub(super) fn compact() -> Self {
        Self { out: String::new(), depth: None }
    }

    /// Return a writer that indents by one space a level, as `diff.Diff` asks for.
    pub(super) fn with_indent() -> Self {
        Self { out: String::new(), depth: Some(0) }
    }

    pub(super) fn finish(self) -> String {
        self.out
    }

    /// Write a value of a shape; `owner` is the struct that it is a member of.
    pub(super) fn value(&mut self, shape: &str, value: Option<&Value>, owner: Option<&Value>) {
        let value = value.filter(|v| !matches!(v, Value::Null));
        if let Some(pointed) = shape.strip_prefix('*') {
            return match value {
                Some(_) => self.value(pointed, value, owner),
                None => self.out.push_str("null"),
            };
        }
        match (shape, value) {
            ("s", None) => self.out.push_str("\"\""),
            ("b", None) => self.out.push_str("false"),
            ("i" | "f" | "u", None) => self.out.push('0'),
            ("q", None) => self.out.push_str("\"0\""),
            ("d", None) => self.out.push_str("\"0s\""),
            ("t", Some(Value::Str(s))) if s.is_empty() => self.out.push_str("null"),
            ("s" | "b" | "i" | "f" | "u" | "q" | "d" | "t" | "y" | "a", Some(value)) => self.plain(value),
            (_, None) if !shape.contains('.') || shape.starts_with(['[', '{']) => self.out.push_str("null"),
            _ => self.write_nested(shape, value, owner),
        }
    }

    fn write_nested(&mut self, shape: &str, value: Option<&Value>, owner: Option<&Value>) {
        if let Some(item) = shape.strip_prefix("[]") {
            let items = value.and_then(Value::as_array).unwrap_or(&[]);
            self.list('[', ']', items.iter(), |w, v| w.value(item, Some(v), None));
        } else if let Some(item) = shape.strip_prefix("{}") {
            let mut entries: Vec<_> = value.and_then(Value::as_object).into_iter().flatten().collect();
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            self.list('{', '}', entries.into_iter(), |w, (key, v)| {
                w.key(key);
                w.value(item, Some(v), None);
            });
        } else {
            const NOTHING: &Value = &Value::Null;
            let mut found = Vec::new();
            collect(shape, value.unwrap_or(NOTHING), owner.unwrap_or(NOTHING), &mut found);
            self.list('{', '}', found.into_iter(), |w, m| {
                w.key(m.shown);
                w.value(m.shape, m.value, value);
            });
        }
    }

    /// Write the items between two brackets, each on its own line if indented.
    fn list<T>(
        &mut self,
        open: char,
        close: char,
        items: impl ExactSizeIterator<Item = T>,
        mut each: impl FnMut(&mut Self, T),
    ) {
        self.out.push(open);
        let some = items.len() > 0;
        self.depth = self.depth.map(|d| d + 1);
        for (i, item) in items.enumerate() {
            if i > 0 {
                self.out.push(',');
            }
            self.line();
            each(self, item);
        }
        self.depth = self.depth.map(|d| d - 1);
        if some {
            self.line();
        }
        self.out.push(close);
    }

    fn line(&mut self) {
        if let Some(depth) = self.depth {
            self.out.push('\n');
            self.out.extend(std::iter::repeat_n(' ', depth));
        }
    }

    fn key(&mut self, key: &str) {
        go_json_string(key, &mut self.out);
        self.out.push_str(if self.depth.is_some() { ": " } else { ":" });
    }

    /// Write a value as it is.
    fn plain(&mut self, value: &Value) {
        match value {
            Value::Array(items) => self.list('[', ']', items.iter(), Self::plain),
            Value::Object(map) => self.list('{', '}', map.iter(), |w, (key, v)| {
                w.key(key);
                w.plain(v);
            }),
            Value::Str(s) => go_json_string(s, &mut self.out),
            other => self.out.push_str(&other.to_json()),
        }
    }
}

/// A member that is written, and its value.
struct Found<'a> {
    shown: &'static str,
    shape: &'static str,
    value: Option<&'a Value>,
}

/// Collect the members of a struct, those of embedded ones among them.
fn collect<'a>(name: &str, value: &'a Value, owner: &'a Value, out: &mut Vec<Found<'a>>) {
    for member in members(name) {
        let held = member.of(value, owner);
        if member.shown == "+" {
            collect(member.shape, held.unwrap_or(&Value::Null), value, out);
        } else if !member.omitempty || held.is_some_and(|v| member.shape.starts_with('*') || !v.is_zero()) {
            out.push(Found { shown: member.shown, shape: member.shape, value: held });
        }
    }
}
