//! JSON merge patch (RFC 7386).

use hydrofoil_types::{Map, Value};

/// Lays a merge patch over a target: null takes out, objects merge, anything else replaces.
pub fn json_merge(target: &mut Value, patch: Value) {
    let Value::Object(patch) = patch else {
        *target = patch;
        return;
    };
    if target.as_object().is_none() {
        *target = Value::Object(Map::new());
    }
    let Some(map) = target.as_object_mut() else { return };
    for (key, value) in patch {
        if value == Value::Null {
            map.remove(&key);
        } else {
            json_merge(map.entry(&key), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use hydrofoil_types::{Map, Value};

    use super::json_merge;

    fn object(members: &[(&str, Value)]) -> Value {
        let mut map = Map::new();
        for (k, v) in members {
            map.set(*k, v.clone());
        }
        Value::Object(map)
    }

    #[test]
    fn follows_the_rfc() {
        let mut target = object(&[("a", "b".into()), ("c", object(&[("d", "e".into()), ("f", "g".into())]))]);
        let patch =
            object(&[("a", "z".into()), ("c", object(&[("f", Value::Null)])), ("n", object(&[("x", Value::Null)]))]);
        json_merge(&mut target, patch);
        let expected = object(&[("a", "z".into()), ("c", object(&[("d", "e".into())])), ("n", Value::object())]);
        assert_eq!(target, expected);
    }
}
