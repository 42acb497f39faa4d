//! Quantities (apiserver `pkg/cel/library/quantity.go`).

#![allow(clippy::arithmetic_side_effects, reason = "amounts are far below 128 bits")]

use std::cmp::Ordering;

use hydrofoil_types::Quantity;

use super::{Native, no_overload};
use crate::value::{Fail, Out, Val};

const NANO: i128 = 1_000_000_000;

pub(crate) fn find(name: &str) -> Option<Native> {
    Some(match name {
        "quantity" => |a| match a {
            [Val::Str(s)] => Quantity::parse(s).map(Val::Quantity).map_err(Fail::new),
            _ => no_overload("quantity", a),
        },
        "isQuantity" => |a| match a {
            [Val::Str(s)] => Ok(Val::Bool(Quantity::parse(s).is_ok())),
            _ => no_overload("isQuantity", a),
        },
        "sign" => |a| match a {
            [Val::Quantity(q)] => Ok(Val::Int(q.nano().signum() as i64)),
            _ => no_overload("sign", a),
        },
        "isGreaterThan" => |a| compare("isGreaterThan", a).map(|o| Val::Bool(o.is_gt())),
        "isLessThan" => |a| compare("isLessThan", a).map(|o| Val::Bool(o.is_lt())),
        "compareTo" => |a| compare("compareTo", a).map(|o| Val::Int(o as i64)),
        "asApproximateFloat" => |a| match a {
            [Val::Quantity(q)] => Ok(Val::Double(q.nano() as f64 / NANO as f64)),
            _ => no_overload("asApproximateFloat", a),
        },
        "asInteger" => |a| match a {
            [Val::Quantity(q)] => match whole(*q) {
                Some(n) => Ok(Val::Int(n)),
                None => Err(Fail::new("cannot convert value to integer")),
            },
            _ => no_overload("asInteger", a),
        },
        "isInteger" => |a| match a {
            [Val::Quantity(q)] => Ok(Val::Bool(whole(*q).is_some())),
            _ => no_overload("isInteger", a),
        },
        "add" => |a| sum("add", a, 1),
        "sub" => |a| sum("sub", a, -1),
        _ => return None,
    })
}

fn whole(q: Quantity) -> Option<i64> {
    if q.nano() % NANO != 0 {
        return None;
    }
    i64::try_from(q.nano() / NANO).ok()
}

/// Compare quantities or versions, whose functions have the same names.
fn compare(name: &str, a: &[Val<'_>]) -> Result<Ordering, Fail> {
    match a {
        [Val::Quantity(a), Val::Quantity(b)] => Ok(a.nano().cmp(&b.nano())),
        [Val::Semver(a), Val::Semver(b)] => Ok(a.compare(b)),
        _ => no_overload(name, a).map(|_| Ordering::Equal),
    }
}

fn sum<'a>(name: &str, a: &[Val<'a>], sign: i128) -> Out<'a> {
    let (q, other) = match a {
        [Val::Quantity(q), Val::Quantity(other)] => (q, other.nano()),
        [Val::Quantity(q), Val::Int(n)] => (q, i128::from(*n) * NANO),
        _ => return no_overload(name, a),
    };
    let total = q.nano().checked_add(other * sign).ok_or_else(|| Fail::new("integer overflow"))?;
    Ok(Val::Quantity(q.with_nano(total)))
}
