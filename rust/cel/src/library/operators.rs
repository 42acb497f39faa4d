//! Operators and optionals (cel-go `common/stdlib`, `cel/library.go`).

#![allow(
    clippy::arithmetic_side_effects,
    reason = "what could overflow is calculated in 128 bits or with checks; divisors are looked at before"
)]

use std::cmp::Ordering;
use std::rc::Rc;

use super::{Native, no_overload};
use crate::value::{Fail, Finder, List, Out, Val, check_size, time};

pub(crate) fn find(name: &str) -> Option<Native> {
    Some(match name {
        "!_" => |a| match a {
            [Val::Bool(b)] => Ok(Val::Bool(!b)),
            _ => Err(Fail::overload()),
        },
        "-_" => |a| match a {
            [Val::Int(n)] => n.checked_neg().map(Val::Int).ok_or_else(Fail::overflow),
            [Val::Double(f)] => Ok(Val::Double(-f)),
            _ => Err(Fail::overload()),
        },
        "_==_" => |a| match a {
            [a, b] => a.equal(b).map(Val::Bool),
            _ => Err(Fail::overload()),
        },
        "_!=_" => |a| match a {
            [a, b] => a.equal(b).map(|same| Val::Bool(!same)),
            _ => Err(Fail::overload()),
        },
        "_<_" => |a| compare(a, Ordering::is_lt),
        "_<=_" => |a| compare(a, Ordering::is_le),
        "_>_" => |a| compare(a, Ordering::is_gt),
        "_>=_" => |a| compare(a, Ordering::is_ge),
        "_+_" => add,
        "_-_" => subtract,
        "_*_" => |a| match a {
            [Val::Int(a), Val::Int(b)] => a.checked_mul(*b).map(Val::Int).ok_or_else(Fail::overflow),
            [Val::Uint(a), Val::Uint(b)] => a.checked_mul(*b).map(Val::Uint).ok_or_else(Fail::unsigned_overflow),
            [Val::Double(a), Val::Double(b)] => Ok(Val::Double(a * b)),
            _ => Err(Fail::overload()),
        },
        "_/_" => |a| match a {
            [Val::Int(_), Val::Int(0)] | [Val::Uint(_), Val::Uint(0)] => Err(Fail::new("division by zero")),
            [Val::Int(a), Val::Int(b)] => a.checked_div(*b).map(Val::Int).ok_or_else(Fail::overflow),
            [Val::Uint(a), Val::Uint(b)] => Ok(Val::Uint(a / b)),
            [Val::Double(a), Val::Double(b)] => Ok(Val::Double(a / b)),
            _ => Err(Fail::overload()),
        },
        "_%_" => |a| match a {
            [Val::Int(_), Val::Int(0)] | [Val::Uint(_), Val::Uint(0)] => Err(Fail::new("modulus by zero")),
            [Val::Int(a), Val::Int(b)] => a.checked_rem(*b).map(Val::Int).ok_or_else(Fail::overflow),
            [Val::Uint(a), Val::Uint(b)] => Ok(Val::Uint(a % b)),
            _ => Err(Fail::overload()),
        },
        "@in" => |a| match a {
            [item, Val::List(list)] => list.contains(item).map(Val::Bool),
            [key, Val::Map(map)] => Ok(Val::Bool(map.get(key).is_some())),
            _ => Err(Fail::overload()),
        },
        "_[_]" => index,
        "_[?_]" => opt_index,
        "size" => |a| match a {
            [v @ (Val::Str(_) | Val::Bytes(_) | Val::List(_) | Val::Map(_))] => Ok(Val::Int(v.size() as i64)),
            _ => Err(Fail::new("no such overload: size")),
        },
        "optional.of" => |a| match a {
            [v] => Ok(Val::some(v.clone())),
            _ => Err(Fail::overload()),
        },
        "optional.ofNonZeroValue" => |a| match a {
            [v] if is_zero(v) => Ok(Val::Optional(None)),
            [v] => Ok(Val::some(v.clone())),
            _ => Err(Fail::overload()),
        },
        "optional.none" => |_| Ok(Val::Optional(None)),
        "value" => |a| match a {
            [Val::Optional(Some(v))] => Ok((**v).clone()),
            [Val::Optional(None)] => Err(Fail::new("optional.none() dereference")),
            _ => no_overload("value", a),
        },
        "hasValue" => |a| match a {
            [Val::Optional(v)] => Ok(Val::Bool(v.is_some())),
            _ => no_overload("hasValue", a),
        },
        "optional.unwrap" | "unwrapOpt" => |a| match a {
            [Val::List(list)] => {
                let mut out = Vec::new();
                for item in list.iter() {
                    if let Val::Optional(Some(v)) = item? {
                        out.push((*v).clone());
                    }
                }
                Ok(Val::list(out))
            }
            _ => no_overload("unwrapOpt", a),
        },
        _ => return None,
    })
}

fn compare<'a>(args: &[Val<'a>], holds: fn(Ordering) -> bool) -> Out<'a> {
    match args {
        [a, b] => a.compare(b).map(|found| Val::Bool(holds(found))),
        _ => Err(Fail::overload()),
    }
}

/// Return the sum of two values, if there is one.
pub(crate) fn add<'a>(args: &[Val<'a>]) -> Out<'a> {
    Ok(match args {
        [Val::Int(a), Val::Int(b)] => Val::Int(a.checked_add(*b).ok_or_else(Fail::overflow)?),
        [Val::Uint(a), Val::Uint(b)] => Val::Uint(a.checked_add(*b).ok_or_else(Fail::unsigned_overflow)?),
        [Val::Double(a), Val::Double(b)] => Val::Double(a + b),
        [Val::Str(a), Val::Str(b)] => Val::text([&**a, &**b].concat()),
        [Val::Bytes(a), Val::Bytes(b)] => Val::Bytes([&**a, &**b].concat().into()),
        [Val::List(a), Val::List(b)] => concat(a, b)?,
        [Val::Duration(a), Val::Duration(b)] => {
            Val::Duration(a.checked_add(*b).ok_or_else(|| Fail::new("duration overflow"))?)
        }
        [Val::Time(t), Val::Duration(d)] | [Val::Duration(d), Val::Time(t)] => {
            Val::Time(time::moment(time::nanos(*t) + i128::from(*d)).ok_or_else(|| Fail::new("timestamp overflow"))?)
        }
        _ => return Err(Fail::overload()),
    })
}

/// Concatenate two lists: items of sets are unique, later items of map lists replace earlier ones of their key.
fn concat<'a>(a: &List<'a>, b: &List<'a>) -> Out<'a> {
    use crate::decl::Order;
    check_size(a.len().saturating_add(b.len()))?;
    let mut out = a.items()?;
    match a.order() {
        Order::Kept => out.extend(b.items()?),
        Order::Set => {
            let finder = Finder::of_set(a);
            for item in b.iter() {
                let item = item?;
                if !finder.holds(&item)? {
                    out.push(item);
                }
            }
        }
        Order::Keyed(keys) => {
            let (before, after) = (Finder::of_keyed(a, keys), Finder::of_keyed(b, keys));
            for item in &mut out {
                if let Some(later) = after.same_keys(item)? {
                    *item = later;
                }
            }
            for item in b.iter() {
                let item = item?;
                if before.same_keys(&item)?.is_none() {
                    out.push(item);
                }
            }
        }
    }
    Ok(Val::List(List::Own(Rc::new(out))))
}

fn subtract<'a>(args: &[Val<'a>]) -> Out<'a> {
    let duration = || Fail::new("duration overflow");
    Ok(match args {
        [Val::Int(a), Val::Int(b)] => Val::Int(a.checked_sub(*b).ok_or_else(Fail::overflow)?),
        [Val::Uint(a), Val::Uint(b)] => Val::Uint(a.checked_sub(*b).ok_or_else(Fail::unsigned_overflow)?),
        [Val::Double(a), Val::Double(b)] => Val::Double(a - b),
        [Val::Duration(a), Val::Duration(b)] => Val::Duration(a.checked_sub(*b).ok_or_else(duration)?),
        [Val::Time(t), Val::Duration(d)] => {
            Val::Time(time::moment(time::nanos(*t) - i128::from(*d)).ok_or_else(|| Fail::new("timestamp overflow"))?)
        }
        [Val::Time(a), Val::Time(b)] => {
            Val::Duration(i64::try_from(time::nanos(*a) - time::nanos(*b)).map_err(|_| Fail::overflow())?)
        }
        _ => return Err(Fail::overload()),
    })
}

/// Return the index in a number.
pub(crate) fn place(index: &Val<'_>) -> Option<i64> {
    match index {
        Val::Int(n) => Some(*n),
        Val::Uint(n) => i64::try_from(*n).ok(),
        Val::Double(f) if f.fract() == 0.0 => Some(*f as i64),
        _ => None,
    }
}

fn index<'a>(args: &[Val<'a>]) -> Out<'a> {
    match args {
        [Val::List(list), at] => {
            let n = place(at).ok_or_else(|| index_error(at))?;
            let found = usize::try_from(n).ok().and_then(|n| list.get(n));
            found.unwrap_or_else(|| Err(Fail::new(format!("index out of bounds: {n}"))))
        }
        [_, Val::Null] => Err(Fail::new("invalid qualifier type: <nil>")),
        [Val::Map(map), key] => map.get(key).unwrap_or_else(|| Err(absent(key))),
        [Val::Optional(_), _] => opt_index(args),
        // A value without members lacks each of them.
        [_, key] => Err(absent(key)),
        _ => Err(Fail::overload()),
    }
}

fn absent(key: &Val<'_>) -> Fail {
    Fail::new(format!("no such key: {}", key.error_text()))
}

/// Return the error of a value that is not an index.
fn index_error(at: &Val<'_>) -> Fail {
    match at {
        Val::Double(f) => Fail::new(format!("unsupported index value {} in list", crate::value::number(*f))),
        other => Fail::new(format!("unsupported index type '{}' in list", other.kind())),
    }
}

fn opt_index<'a>(args: &[Val<'a>]) -> Out<'a> {
    let found = match args {
        [Val::Optional(None), _] => None,
        [Val::Optional(Some(inner)), key] => return opt_index(&[(**inner).clone(), key.clone()]),
        [Val::List(list), at] => {
            let n = place(at).ok_or_else(|| index_error(at))?;
            usize::try_from(n).ok().and_then(|n| list.get(n))
        }
        [_, Val::Null] => return Err(Fail::new("invalid qualifier type: <nil>")),
        [Val::Map(map), key] => map.get(key),
        _ => None,
    };
    found.map_or(Ok(Val::Optional(None)), |value| value.map(Val::some))
}

fn is_zero(value: &Val<'_>) -> bool {
    match value {
        Val::Null | Val::Bool(false) | Val::Int(0) | Val::Uint(0) | Val::Duration(0) | Val::Optional(None) => true,
        Val::Double(f) => *f == 0.0,
        Val::Str(text) => text.is_empty(),
        Val::Bytes(bytes) => bytes.is_empty(),
        Val::List(list) => list.len() == 0,
        Val::Map(map) => map.len() == 0,
        _ => false,
    }
}
