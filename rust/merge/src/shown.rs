//! The result of a rejected patch as messages show it.

use hydrofoil_types::Value;

/// Order the result of a merge patch or JSON patch as upstream's library writes it: objects that the patch visits are
/// Go maps, whose members are sorted by name; all else keeps its order.
pub fn order_outcome(value: &mut Value, before: &Value, patch: &Value) {
    match patch.as_array() {
        Some(operations) => {
            for operation in operations {
                for pointer in ["path", "from"].iter().map(|key| operation.str_at(&[key])) {
                    let mut here = &mut *value;
                    for step in pointer.split('/').skip(1) {
                        if let Some(map) = here.as_object_mut() {
                            map.sort_keys();
                        }
                        let next = match here {
                            Value::Object(map) => map.get_mut(&step.replace("~1", "/").replace("~0", "~")),
                            Value::Array(items) => step.parse().ok().and_then(|at: usize| items.get_mut(at)),
                            _ => None,
                        };
                        let Some(next) = next else { break };
                        here = next;
                    }
                }
            }
        }
        None => merge(value, before, patch),
    }
}

fn merge(value: &mut Value, before: &Value, patch: &Value) {
    match (value, before, patch) {
        (Value::Object(map), Value::Object(before), Value::Object(patch)) => {
            map.sort_keys();
            for (key, below) in patch {
                if let Some(value) = map.get_mut(key) {
                    merge(value, before.get(key).unwrap_or(&Value::Null), below);
                }
            }
        }
        // The library visits all values of the patch to remove nulls.
        (value, ..) => value.sort_members(),
    }
}

#[cfg(test)]
mod tests {
    use super::order_outcome;
    use crate::testing::{json, text};
    use crate::{json_merge, json_patch};

    const BEFORE: &str =
        r#"{"kind":"K","spec":{"b":{"y":1,"x":2},"a":[{"d":1,"c":2}]},"metadata":{"name":"n","labels":{}}}"#;

    #[test]
    fn what_a_patch_looks_into_is_sorted() {
        let before = json(BEFORE);
        let (patch, mut value) = (json(r#"{"spec":{"b":{"z":[{"q":1,"p":2}]}}}"#), before.clone());
        json_merge(&mut value, patch.clone());
        order_outcome(&mut value, &before, &patch);
        assert_eq!(
            text(&value),
            r#"{"kind":"K","metadata":{"name":"n","labels":{}},"spec":{"a":[{"d":1,"c":2}],"b":{"x":2,"y":1,"z":[{"p":2,"q":1}]}}}"#
        );
        let (patch, mut value) = (json(r#"[{"op":"replace","path":"/spec/a/0/d","value":"x"}]"#), before.clone());
        json_patch(&mut value, &patch).expect("it applies");
        order_outcome(&mut value, &before, &patch);
        assert_eq!(
            text(&value),
            r#"{"kind":"K","metadata":{"name":"n","labels":{}},"spec":{"a":[{"c":2,"d":"x"}],"b":{"y":1,"x":2}}}"#
        );
    }
}
