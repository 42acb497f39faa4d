//! Equality of values in linear time, at any depth.

#![allow(clippy::indexing_slicing, reason = "places come from the list that they lead into")]

use hydrofoil_types::{Map, Value};

/// Report whether two values are equal, in any order of members.
///
/// `==` of maps compares unequal members twice, which doubles with every level.
pub(crate) fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(x, y)| equal(x, y)),
        (Value::Object(a), Value::Object(b)) => a.len() == b.len() && maps(a, b),
        (Value::Array(_) | Value::Object(_), _) | (_, Value::Array(_) | Value::Object(_)) => false,
        _ => a == b,
    }
}

fn maps(a: &Map, b: &Map) -> bool {
    let in_order = a.keys().eq(b.keys());
    if in_order {
        return a.iter().zip(b).all(|(x, y)| equal(&x.1, &y.1));
    }
    let sorted = |map: &'_ Map| -> Vec<usize> {
        let members = map.iter().as_slice();
        let mut places: Vec<_> = (0..members.len()).collect();
        places.sort_by(|i, j| members[*i].0.cmp(&members[*j].0));
        places
    };
    let (left, right) = (a.iter().as_slice(), b.iter().as_slice());
    sorted(a).into_iter().zip(sorted(b)).all(|(i, j)| left[i].0 == right[j].0 && equal(&left[i].1, &right[j].1))
}
