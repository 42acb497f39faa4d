//! Whether a configuration fits its schema (structured-merge-diff `typed/validate.go`).

use std::collections::BTreeSet;

use hydrofoil_types::{Nature, Schema, Shape, Special, Value};

use super::ApplyError;
use crate::place::{Atom, Place};
use hydrofoil_types::notation;

/// Checks a configuration.
pub(super) fn config(schema: &Schema, config: &Value) -> Result<(), ApplyError> {
    let mut walk = Walk { path: String::new(), found: Vec::new() };
    let shape = Shape::Type(schema.root);
    walk.value(Place::root(schema), &shape, config);
    let text = match walk.found.as_slice() {
        [] => return Ok(()),
        [one] => one.clone(),
        many => format!("errors:\n  {}", many.join("\n  ")),
    };
    let named = |text: &str| if text.is_empty() { "<unknown>".to_owned() } else { text.to_owned() };
    let (namespace, name) = (config.str_at(&["metadata", "namespace"]), named(config.str_at(&["metadata", "name"])));
    let (version, kind) = (config.str_at(&["apiVersion"]), config.str_at(&["kind"]));
    // A GroupVersionKind of the core group prints with its empty group.
    let version = if version.contains('/') { version.to_owned() } else { format!("/{version}") };
    Err(ApplyError::Internal(format!(
        "failed to create typed patch object ({namespace}/{name}; {version}, Kind={kind}): {text}"
    )))
}

struct Walk {
    path: String,
    found: Vec<String>,
}

impl Walk {
    fn fail(&mut self, text: &str) {
        let path = &self.path;
        self.found.push(if path.is_empty() { text.to_owned() } else { format!("{path}: {text}") });
    }

    fn step<'a>(&mut self, step: &str, place: Place<'a>, shape: &'a Shape, value: &Value) {
        let length = self.path.len();
        self.path.push_str(step);
        self.value(place, shape, value);
        self.path.truncate(length);
    }

    fn value<'a>(&mut self, place: Place<'a>, shape: &'a Shape, value: &Value) {
        match (shape, value) {
            (_, Value::Null)
            | (Shape::Any, _)
            | (Shape::Str | Shape::Bytes, Value::Str(_))
            | (Shape::Bool, Value::Bool(_))
            | (Shape::Int32 | Shape::Int64 | Shape::Double, Value::Int(_) | Value::Float(_)) => {}
            (Shape::Type(id), _) => match (place.arena().get(*id), value) {
                (def, _) if def.nature == Nature::Wrapped => {
                    if let Some(field) = def.fields.first() {
                        self.value(place, &field.shape, value);
                    }
                }
                (def, Value::Object(map)) if def.special.is_none() => {
                    for (key, value) in map {
                        let length = self.path.len();
                        self.path.extend([".", key.as_str()]);
                        if let Some((_, field)) = def.field(key, 0) {
                            self.value(place.field(field), &field.shape, value);
                        } else if def.nature != Nature::Open {
                            self.fail("field not declared in schema");
                        }
                        self.path.truncate(length);
                    }
                }
                (def, _) if def.special.is_none() => self.wrong("map", value),
                (def, Value::Object(_) | Value::Array(_)) if is_scalar(def.special) => self.wrong("any scalar", value),
                _ => {}
            },
            (Shape::Map(of), Value::Object(map)) => {
                for (key, value) in map {
                    let child = place.member(key).unwrap_or(place);
                    self.step(&format!(".{key}"), child, of, value);
                }
            }
            (Shape::Map(_), _) => self.wrong("map", value),
            (Shape::List(item), Value::Array(items)) => self.items(place, item, items),
            (Shape::List(_), _) => self.wrong("list", value),
            (Shape::Str | Shape::Bytes, _) => self.wrong("string", value),
            (Shape::Bool, _) => self.wrong("boolean", value),
            (Shape::Int32 | Shape::Int64 | Shape::Double, _) => self.wrong("numeric (int or float)", value),
        }
    }

    fn items<'a>(&mut self, place: Place<'a>, shape: &'a Shape, items: &[Value]) {
        let mut seen = BTreeSet::new();
        for (at, item) in items.iter().enumerate() {
            if !matches!(place.atom, Atom::List(..)) {
                self.step(&format!("[{at}]"), place.item_of(shape), shape, item);
                continue;
            }
            match place.element(item) {
                Err(text) => self.fail(&format!("element {at}: {text}")),
                Ok(element) => {
                    let step = element.to_string();
                    if !seen.insert(element) {
                        self.fail(&format!("duplicate entries for key {step}"));
                    }
                    self.step(&step, place.item(), shape, item);
                }
            }
        }
    }

    fn wrong(&mut self, expected: &str, value: &Value) {
        let mut text = String::new();
        notation::write(&mut text, value);
        self.fail(&format!("expected {expected}, got {text}"));
    }
}

fn is_scalar(special: Option<Special>) -> bool {
    matches!(
        special,
        Some(Special::Quantity | Special::Time | Special::MicroTime | Special::Duration | Special::IntOrString)
    )
}
