//! The members of an object that are kept as given (`runtime.RawExtension`).

use hydrofoil_types::{Arena, Schema, Shape, SmolStr, Special, TypeDef, TypeId, Value, compact};
use rustc_hash::FxHashSet;

use super::encode::encode_any;

/// The form that conversion gives the raw members of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RawForm {
    /// A text without white space, as in JSON.
    Compact,
    /// A text of Go's maps, members by name: as converted through `Unstructured`.
    Ordered,
    /// Values like all others, members by name.
    Open,
}

/// Report whether objects of a type may have raw members.
pub fn has_raw(schema: &Schema) -> bool {
    fn below(arena: &Arena, shape: &Shape, seen: &mut FxHashSet<TypeId>) -> bool {
        match shape {
            Shape::List(item) | Shape::Map(item) => below(arena, item, seen),
            Shape::Type(id) if seen.insert(*id) => {
                let def = arena.get(*id);
                def.special == Some(Special::Raw) || def.fields.iter().any(|f| below(arena, &f.shape, seen))
            }
            _ => false,
        }
    }
    below(&schema.arena, &Shape::Type(schema.root), &mut FxHashSet::default())
}

/// Convert the raw members of an object to another form.
pub fn change_raw(schema: &Schema, object: &mut Value, form: RawForm) {
    members(&schema.arena, schema.root(), object, form);
}

fn members(arena: &Arena, def: &TypeDef, object: &mut Value, form: RawForm) {
    let Some(map) = object.as_object_mut() else { return };
    for field in &def.fields {
        if let Some(value) = map.get_mut(&field.name) {
            change(arena, &field.shape, value, form);
        }
    }
}

fn change(arena: &Arena, shape: &Shape, value: &mut Value, form: RawForm) {
    match (shape, value) {
        (Shape::List(item), Value::Array(items)) => {
            for value in items {
                change(arena, item, value, form);
            }
        }
        (Shape::Map(of), Value::Object(map)) => {
            for (_, value) in map.iter_mut() {
                change(arena, of, value, form);
            }
        }
        (Shape::Type(id), value) => match (arena.get(*id).special, &*value) {
            (None, _) => members(arena, arena.get(*id), value, form),
            (Some(Special::Raw), Value::Raw(text)) => *value = in_form(text, form),
            _ => {}
        },
        _ => {}
    }
}

fn in_form(text: &SmolStr, form: RawForm) -> Value {
    if form == RawForm::Compact {
        return Value::Raw(SmolStr::from(compact(text)));
    }
    let mut open = super::parse_raw(text);
    open.sort_members();
    let ordered = SmolStr::new(String::from_utf8_lossy(&encode_any(&open)));
    match form {
        // As parsed from the ordered text: 1.0 is 1.
        RawForm::Open => super::parse_raw(&ordered),
        _ => Value::Raw(ordered),
    }
}

#[cfg(test)]
mod tests {
    use hydrofoil_types::Value;

    use super::{RawForm, in_form};

    #[test]
    fn forms_of_a_text() {
        let given = r#"{ "b": 1.0, "a": {"y": 2.50, "x": "<"} }"#.into();
        let compact = r#"{"b":1.0,"a":{"y":2.50,"x":"\u003c"}}"#;
        let ordered = r#"{"a":{"x":"\u003c","y":2.5},"b":1}"#;
        assert_eq!(in_form(&given, RawForm::Compact), Value::Raw(compact.into()));
        assert_eq!(in_form(&given, RawForm::Ordered), Value::Raw(ordered.into()));
        let open = in_form(&given, RawForm::Open);
        assert_eq!((open.get("b"), open.str_at(&["a", "x"])), (Some(&Value::Int(1)), "<"));
    }
}
