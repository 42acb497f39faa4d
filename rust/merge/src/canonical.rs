//! Objects as Go represents them: with the zero values that its JSON never omits.

use hydrofoil_types::{Arena, Finite, Map, Nature, Shape, Special, TypeDef, Value, Zero};

/// Return the members of a struct, as the JSON encoder would write them.
pub(crate) fn fields(arena: &Arena, def: &TypeDef, members: &Map) -> Value {
    let mut out = Vec::with_capacity(members.len());
    if def.nature != Nature::Struct {
        // Custom resources are kept as given; only their metadata is a struct.
        out.extend(members.iter().map(|(key, value)| {
            let value = def.field(key, 0).map_or_else(|| value.clone(), |(_, f)| shape_value(arena, &f.shape, value));
            (key.clone(), value)
        }));
        return Value::Object(Map::from_unique(out));
    }
    for field in &def.fields {
        let value = members.get(&field.name).filter(|v| **v != Value::Null);
        // Go's omitempty keeps structs; only omitzero omits them.
        let is_struct = matches!(field.shape, Shape::Type(_));
        let drops = field.omitempty && !field.ptr && !is_struct;
        let value = match value {
            Some(value) if drops && value.is_zero() => continue,
            Some(value) => shape_value(arena, &field.shape, value),
            None if field.omitempty && (field.ptr || !is_struct) => continue,
            None if field.omitzero && !field.ptr => continue,
            None if field.ptr => Value::Null,
            None => zero(arena, &field.shape),
        };
        out.push((field.name.clone(), value));
    }
    Value::Object(Map::from_unique(out))
}

fn shape_value(arena: &Arena, shape: &Shape, value: &Value) -> Value {
    match (shape, value) {
        (Shape::List(item), Value::Array(items)) => {
            Value::Array(items.iter().map(|v| shape_value(arena, item, v)).collect())
        }
        (Shape::Map(of), Value::Object(map)) => {
            Value::Object(Map::from_unique(map.iter().map(|(k, v)| (k.clone(), shape_value(arena, of, v))).collect()))
        }
        (Shape::Type(id), _) => match (arena.get(*id), value) {
            (def, _) if def.nature == Nature::Wrapped => {
                def.fields.first().map_or_else(|| value.clone(), |f| shape_value(arena, &f.shape, value))
            }
            (def, Value::Object(map)) if def.special.is_none() => fields(arena, def, map),
            // A custom resource has its nulls.
            (def, Value::Null) if def.special.is_none() && def.nature == Nature::Struct => {
                fields(arena, def, &Map::new())
            }
            _ => value.clone(),
        },
        _ => value.clone(),
    }
}

fn zero(arena: &Arena, shape: &Shape) -> Value {
    match (arena.zero(shape), shape) {
        (Zero::Struct, Shape::Type(id)) => fields(arena, arena.get(*id), &Map::new()),
        (Zero::Scalar, Shape::Int32 | Shape::Int64) => Value::Int(0),
        (Zero::Scalar, Shape::Double) => Value::Float(Finite::default()),
        (Zero::Scalar, Shape::Bool) => Value::Bool(false),
        (Zero::Scalar, Shape::Str) => Value::str(""),
        (Zero::Scalar, Shape::Type(id)) => match arena.get(*id).special {
            Some(Special::Quantity) => Value::str("0"),
            Some(Special::Duration) => Value::str("0s"),
            _ => Value::Int(0),
        },
        _ => Value::Null,
    }
}
