//! Validation of a value by its schema (structured-merge-diff `typed/validate.go`).

use std::collections::BTreeSet;
use std::fmt::Write as _;

use hydrofoil_types::{Map, Nature, Schema, Shape, Special, TypeDef, Value, go};

use crate::place::{Atom, Place};

/// Return the error of a configuration, with the name of the object; duplicate items are errors.
pub(crate) fn config_problem(schema: &Schema, config: &Value) -> Option<String> {
    object_error(schema, config, Duplicates::Told)
}

/// Return the error of an object, with its name; sets and maps of live objects may have duplicates.
pub(crate) fn object_problem(schema: &Schema, object: &Value) -> Option<String> {
    object_error(schema, object, Duplicates::Allowed)
}

/// Report whether an object matches the schema of a place.
pub(crate) fn fits(place: Place<'_>, object: &Value) -> bool {
    let Atom::Struct(def) = place.atom else { return true };
    let mut walk = Walk { path: String::new(), found: Vec::new(), duplicates: Duplicates::Allowed };
    walk.members(place, def, object.as_object().unwrap_or(&Map::new()));
    walk.found.is_empty()
}

/// Return the error of a converted object; duplicate items are errors.
pub(crate) fn problem(schema: &Schema, object: &Value) -> Option<String> {
    bare(schema, object, Duplicates::Told)
}

/// Return the error of an object, with its name.
fn object_error(schema: &Schema, object: &Value, duplicates: Duplicates) -> Option<String> {
    bare(schema, object, duplicates).map(|text| format!("{}: {text}", object_name(object)))
}

fn bare(schema: &Schema, object: &Value, duplicates: Duplicates) -> Option<String> {
    let mut walk = Walk { path: String::new(), found: Vec::new(), duplicates };
    walk.value(Place::root(schema), &Shape::Type(schema.root), object);
    match walk.found.as_slice() {
        [] => None,
        [one] => Some(one.clone()),
        many => Some(format!("errors:\n  {}", many.join("\n  "))),
    }
}

/// Return `(namespace/name; GroupVersionKind)`, as `objectGVKNN` does; a name that is not a string is empty.
pub fn object_name(object: &Value) -> String {
    let (namespace, name) = (object.str_at(&["metadata", "namespace"]), object.str_at(&["metadata", "name"]));
    format!("({namespace}/{name}; {})", type_name(object))
}

/// Return the type of an object as Go prints a `GroupVersionKind`: the core group as its empty name.
fn type_name(object: &Value) -> String {
    let (version, kind) = (object.str_at(&["apiVersion"]), object.str_at(&["kind"]));
    let slash = if version.contains('/') { "" } else { "/" };
    format!("{slash}{version}, Kind={kind}")
}

/// The treatment of items with the same keys.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Duplicates {
    Allowed,
    Told,
}

const NUMERIC: &str = "numeric (int or float)";
const STRING: &str = "string";

struct Walk {
    path: String,
    found: Vec<String>,
    duplicates: Duplicates,
}

impl Walk {
    fn fail(&mut self, text: &str) {
        let path = &self.path;
        self.found.push(if path.is_empty() { text.to_owned() } else { format!("{path}: {text}") });
    }

    fn step<'a>(&mut self, step: [&str; 2], place: Place<'a>, shape: &'a Shape, value: &Value) {
        let length = self.path.len();
        self.path.extend(step);
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
                (def, Value::Object(map)) if def.special.is_none() => self.members(place, def, map),
                (def, _) if def.special.is_none() => self.wrong("map", value),
                (def, Value::Object(_) | Value::Array(_)) if is_scalar(def.special) => self.wrong("any scalar", value),
                _ => {}
            },
            (Shape::Map(of), Value::Object(map)) => {
                for (key, value) in map {
                    let child = place.member(key).unwrap_or(place);
                    self.step([".", key.as_str()], child, of, value);
                }
            }
            (Shape::Map(_), _) => self.wrong("map", value),
            (Shape::List(item), Value::Array(items)) => self.items(place, item, items),
            (Shape::List(_), _) => self.wrong("list", value),
            (Shape::Str | Shape::Bytes, _) => self.wrong(STRING, value),
            (Shape::Bool, _) => self.wrong("boolean", value),
            (Shape::Int32 | Shape::Int64 | Shape::Double, _) => self.wrong(NUMERIC, value),
        }
    }

    fn items<'a>(&mut self, place: Place<'a>, shape: &'a Shape, items: &[Value]) {
        let mut seen = BTreeSet::new();
        for (at, item) in items.iter().enumerate() {
            if !matches!(place.atom, Atom::List(..)) {
                let length = self.path.len();
                // Writing to a string cannot fail.
                let _ = write!(self.path, "[{at}]");
                self.value(place.item_of(shape), shape, item);
                self.path.truncate(length);
                continue;
            }
            match place.element(item) {
                // Without a path element neither this item nor the following ones can be reported.
                Err(text) => return self.fail(&format!("element {at}: {text}")),
                Ok(element) => {
                    let step = element.to_string();
                    if !seen.insert(element) && self.duplicates == Duplicates::Told {
                        self.fail(&format!("duplicate entries for key {step}"));
                    }
                    self.step([&step, ""], place.item(), shape, item);
                }
            }
        }
    }

    fn members<'a>(&mut self, place: Place<'a>, def: &'a TypeDef, map: &Map) {
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

    /// Report a value of the wrong type; upstream prints its wrapper of the value, with a different verb for each type.
    fn wrong(&mut self, expected: &str, value: &Value) {
        let got = match expected {
            NUMERIC => go::kind(value).to_owned(),
            STRING => format!("&value.valueUnstructured{{Value:{}}}", go::syntax(value)),
            _ => format!("&{{{}}}", go::plain(value)),
        };
        self.fail(&format!("expected {expected}, got {got}"));
    }
}

fn is_scalar(special: Option<Special>) -> bool {
    matches!(
        special,
        Some(Special::Quantity | Special::Time | Special::MicroTime | Special::Duration | Special::IntOrString)
    )
}
