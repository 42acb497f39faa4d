//! Numbers (kube-openapi `pkg/validation/validate/values.go`).

use hydrofoil_types::{Finite, Value, go};

use super::result::{Problem, Result};
use crate::structural::{Kind, Rules};

/// Report whether a number is a whole one within JSON's safe range (`swag.IsFloat64AJSONInteger`).
pub(super) fn is_whole(f: f64) -> bool {
    const SAFE: f64 = 9_007_199_254_740_991.0;
    f.is_finite() && f.abs() <= SAFE && (f - f.round()).abs() <= 1e-9 * f.abs()
}

/// Report whether a value is one of an enumeration: numbers may differ in kind (`reflect.Value.Convert`).
pub(super) fn equal(value: &Value, allowed: &Value) -> bool {
    match (value, allowed) {
        (Value::Int(a), Value::Float(b)) => Finite::from(*a) == *b,
        (Value::Float(a), Value::Int(b)) => a.get() as i64 == *b,
        _ => value == allowed,
    }
}

/// `numberValidator`: the type and its format are checked for every number, whatever its other rules.
pub(super) fn check(path: &str, value: &Value, kind: Option<Kind>, rules: Option<&Rules>, result: &mut Result) {
    let as_float = match value {
        Value::Int(n) => *n as f64,
        Value::Float(f) => f.get(),
        _ => return,
    };
    let format = rules.map_or("", |r| r.number_format.as_str());
    let ranged = |what: &str, whole: Option<i64>, as_float: f64, result: &mut Result| {
        let fit = fits(whole, as_float, kind, format);
        if !fit {
            let name = kind.map_or("", Kind::name);
            let with = if format.is_empty() { "(default format)".to_owned() } else { format!("with format {format}") };
            result.add(Problem::loose(format!("{what} value must be of type {name} {with} in {path}")));
        }
        fit
    };
    ranged("Checked", value.as_int(), as_float, result);
    let Some(range) = rules.and_then(|r| r.range.as_deref()) else { return };
    // A bound that does not fit the type is compared as a general number.
    let general = value.as_int().map_or_else(|| value.clone(), |n| Value::Float(n.into()));
    let beside = |what: &str, bound: f64, result: &mut Result| {
        if ranged(what, None, bound, result) { value } else { &general }
    };
    if let Some(factor) = range.multiple_of {
        let data = beside("MultipleOf", factor, result);
        let least = if matches!(data, Value::Int(_)) { factor.trunc() } else { factor };
        let whole = match data {
            _ if least <= 0.0 => {
                let shown = bound_text(data, factor);
                let why = format!("factor MultipleOf declared for {path} must be positive: {shown}");
                let factor = match data {
                    Value::Int(_) => Value::Int(factor as i64),
                    _ => Value::float(factor).unwrap_or_default(),
                };
                result.add(Problem::invalid(path, factor, why));
                true
            }
            Value::Int(n) => n.checked_rem(factor as i64) == Some(0),
            _ if factor < 1.0 => is_whole(1.0 / factor * as_float),
            _ => is_whole(as_float / factor),
        };
        if !whole {
            let why = format!("{path} in body should be a multiple of {}", bound_text(data, factor));
            result.add(Problem::invalid(path, data.clone(), why));
        }
    }
    if let Some((max, exclusive)) = range.maximum {
        let data = beside("Maximum boundary", max, result);
        let bad = match data {
            Value::Int(n) if exclusive => *n >= max as i64,
            Value::Int(n) => *n > max as i64,
            _ if exclusive => as_float >= max,
            _ => as_float > max,
        };
        if bad {
            let or = if exclusive { "" } else { " or equal to" };
            let why = format!("{path} in body should be less than{or} {}", bound_text(data, max));
            result.add(Problem::invalid(path, data.clone(), why));
        }
    }
    if let Some((min, exclusive)) = range.minimum {
        let data = beside("Minimum boundary", min, result);
        let bad = match data {
            Value::Int(n) if exclusive => *n <= min as i64,
            Value::Int(n) => *n < min as i64,
            _ if exclusive => as_float <= min,
            _ => as_float < min,
        };
        if bad {
            let or = if exclusive { "" } else { " or equal to" };
            let why = format!("{path} in body should be greater than{or} {}", bound_text(data, min));
            result.add(Problem::invalid(path, data.clone(), why));
        }
    }
}

/// `IsValueValidAgainstRange`.
fn fits(whole: Option<i64>, as_float: f64, kind: Option<Kind>, format: &str) -> bool {
    match (kind, format) {
        (Some(Kind::Integer), "int32") => match whole {
            Some(n) => i32::try_from(n).is_ok(),
            None => as_float.fract().abs() <= 0.0 && (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&as_float),
        },
        (Some(Kind::Integer), _) => match whole {
            Some(_) => true,
            None => as_float.fract().abs() <= 0.0 && as_float.abs() < -(i64::MIN as f64),
        },
        (Some(Kind::Number), "float") => as_float.abs() <= f64::from(f32::MAX),
        _ => true,
    }
}

/// Return a bound as Go prints it: a whole one beside a whole value, else the shortest form.
fn bound_text(value: &Value, bound: f64) -> String {
    if matches!(value, Value::Int(_)) {
        return (bound as i64).to_string();
    }
    go::float(bound)
}
