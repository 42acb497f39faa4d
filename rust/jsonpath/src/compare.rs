//! Comparisons of filters (client-go `third_party/forked/golang/template`).

use std::cmp::Ordering;

use hydrofoil_types::Value;

/// Return the result of an operator; `None` for values or an operator that cannot be compared so.
pub(super) fn holds(operator: &str, left: &Value, right: &Value) -> Option<bool> {
    let order = match (left, right) {
        (Value::Int(a), Value::Int(b)) => a.cmp(b),
        // A float that is no number is neither less nor equal.
        (Value::Float(a), Value::Float(b)) => a.partial_cmp(b).unwrap_or(Ordering::Greater),
        (Value::Str(a), Value::Str(b)) => a.cmp(b),
        (Value::Bool(a), Value::Bool(b)) if matches!(operator, "==" | "!=") => a.cmp(b),
        _ => return None,
    };
    Some(match operator {
        "==" => order.is_eq(),
        "!=" => order.is_ne(),
        "<" => order.is_lt(),
        "<=" => order.is_le(),
        ">" => order.is_gt(),
        ">=" => order.is_ge(),
        _ => return None,
    })
}
