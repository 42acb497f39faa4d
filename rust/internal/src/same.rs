//! `apiequality.Semantic.DeepEqual` of internal types.

use hydrofoil_types::{Quantity, Timestamp, Value};

use super::table::members;
use hydrofoil_types::read::Read;

/// Report whether two values of a shape are the same.
///
/// Nil and empty lists and maps are alike, as are quantities and times that are written differently; a pointer to
/// zero is not nil.
pub(super) fn same(shape: &str, a: &Value, b: &Value) -> bool {
    both(shape, Some(a), Some(b), (&Value::Null, &Value::Null))
}

fn both(shape: &str, a: Option<&Value>, b: Option<&Value>, owners: (&Value, &Value)) -> bool {
    let set = |v: Option<&Value>| v.is_some_and(|v| !matches!(v, Value::Null));
    if let Some(pointed) = shape.strip_prefix('*') {
        return match (set(a), set(b)) {
            (false, false) => true,
            (true, true) => both(pointed, a, b, owners),
            _ => false,
        };
    }
    let (a, b) = (a.unwrap_or(&Value::Null), b.unwrap_or(&Value::Null));
    if let Some(item) = shape.strip_prefix("[]") {
        let (a, b) = (a.as_array().unwrap_or(&[]), b.as_array().unwrap_or(&[]));
        return a.len() == b.len() && a.iter().zip(b).all(|(a, b)| both(item, Some(a), Some(b), owners));
    }
    if let Some(item) = shape.strip_prefix("{}") {
        let count = |v: &Value| v.as_object().map_or(0, hydrofoil_types::Map::len);
        let mut entries = a.as_object().into_iter().flatten();
        return count(a) == count(b) && entries.all(|(key, v)| b.has(key) && both(item, Some(v), b.get(key), owners));
    }
    match shape {
        "q" => quantity(a) == quantity(b),
        "t" => time(a) == time(b),
        "s" | "b" | "i" | "f" | "u" | "d" | "y" | "a" => a == b || (a.is_zero() && b.is_zero()),
        name => members(name).iter().all(|m| both(m.shape, m.of(a, owners.0), m.of(b, owners.1), (a, b))),
    }
}

fn quantity(value: &Value) -> i128 {
    value.as_str().and_then(|t| Quantity::parse(t).ok()).map_or(0, Quantity::nano)
}

fn time(value: &Value) -> Option<Timestamp> {
    // The zero time is that of a member that is not given.
    value.as_str().filter(|t| *t != "0001-01-01T00:00:00Z").and_then(Timestamp::parse)
}
