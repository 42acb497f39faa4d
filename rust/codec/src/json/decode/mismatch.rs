//! The errors of a body that does not match its type, with Go's messages.

use std::fmt::Write as _;

use hydrofoil_text::quoted;
use hydrofoil_types::{Shape, SmolStr};

use super::Decoder;

/// The maximum number of reported strict errors (upstream's limit).
pub(super) const MAX_STRICT: usize = 100;

/// A step of the path to a value.
pub(super) enum Step {
    Field(SmolStr),
    Key(SmolStr),
    Index(usize),
}

impl Decoder<'_> {
    /// Add a strict error about the field of the current path.
    pub(super) fn note(&mut self, what: &str) {
        if self.strict.len() < MAX_STRICT {
            let text = format!("{what} field {}", quoted(&self.dotted_path()));
            if !self.strict.contains(&text) {
                self.strict.push(text);
            }
        }
    }

    fn dotted_path(&self) -> String {
        let mut out = String::new();
        for step in &self.path {
            match step {
                Step::Field(name) | Step::Key(name) => {
                    if !out.is_empty() {
                        out.push('.');
                    }
                    out.push_str(name);
                }
                Step::Index(i) => {
                    let _ = write!(out, "[{i}]");
                }
            }
        }
        out
    }

    pub(super) fn mismatch_text(&self, found: &str, shape: &Shape) -> String {
        self.unmarshal_text(found, &self.go_type(shape))
    }

    pub(super) fn unmarshal_text(&self, found: &str, target: &str) -> String {
        let fields: Vec<&str> = self
            .path
            .iter()
            .filter_map(|s| match s {
                Step::Field(name) => Some(name.as_str()),
                Step::Key(_) | Step::Index(_) => None,
            })
            .skip(usize::from(self.apart))
            .collect();
        if fields.is_empty() {
            return format!("json: cannot unmarshal {found} into Go value of type {target}");
        }
        let owner = self.owner.unwrap_or("");
        format!("json: cannot unmarshal {found} into Go struct field {owner}.{} of type {target}", fields.join("."))
    }

    fn go_type(&self, shape: &Shape) -> String {
        match shape {
            Shape::Str => "string".to_owned(),
            Shape::Int32 => "int32".to_owned(),
            Shape::Int64 => "int64".to_owned(),
            Shape::Bool => "bool".to_owned(),
            Shape::Double => "float64".to_owned(),
            Shape::Bytes => "[]uint8".to_owned(),
            Shape::Any => "interface {}".to_owned(),
            Shape::List(item) => format!("[]{}", self.go_type(item)),
            Shape::Map(value) => format!("map[string]{}", self.go_type(value)),
            Shape::Type(id) => match self.arena {
                Some(arena) => {
                    let name = &arena.get(*id).name;
                    let mut parts = name.rsplit('.');
                    let last = parts.next().unwrap_or("");
                    format!("{}.{last}", parts.next().unwrap_or(""))
                }
                None => String::new(),
            },
        }
    }
}
