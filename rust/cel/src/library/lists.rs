//! Functions of lists and sets (apiserver `pkg/cel/library/lists.go`, cel-go `ext/lists.go`, `ext/sets.go`).

#![allow(clippy::indexing_slicing, reason = "numbers of nodes, arguments and tokens are given out by the parser")]

use std::cmp::Ordering;

use super::operators;
use super::text;
use super::{Native, no_overload};
use crate::value::{Fail, List, Out, Val, check_size};

pub(crate) fn find(name: &str) -> Option<Native> {
    Some(match name {
        "isSorted" => |a| match a {
            [Val::List(list)] => {
                let items = list.items()?;
                for pair in items.windows(2) {
                    if pair[0].compare(&pair[1])?.is_gt() {
                        return Ok(Val::Bool(false));
                    }
                }
                Ok(Val::Bool(true))
            }
            _ => no_overload("isSorted", a),
        },
        "sum" => |a| match a {
            [Val::List(list)] => {
                let mut items = list.items()?.into_iter();
                let Some(first) = items.next() else { return Ok(Val::Int(0)) };
                items.try_fold(first, |sum, item| operators::add(&[sum, item]))
            }
            _ => no_overload("sum", a),
        },
        "min" => |a| extreme("min", a, Ordering::Less),
        "max" => |a| extreme("max", a, Ordering::Greater),
        "indexOf" => |a| position("indexOf", a, false),
        "lastIndexOf" => |a| position("lastIndexOf", a, true),
        "first" => |a| match a {
            [Val::List(list)] => list.get(0).map_or(Ok(Val::Optional(None)), |v| v.map(Val::some)),
            _ => no_overload("first", a),
        },
        "last" => |a| match a {
            [Val::List(list)] => {
                let last = list.len().checked_sub(1).and_then(|at| list.get(at));
                last.map_or(Ok(Val::Optional(None)), |v| v.map(Val::some))
            }
            _ => no_overload("last", a),
        },
        "slice" => slice,
        "flatten" => |a| match a {
            [Val::List(list)] => flatten(list, 1),
            [Val::List(_), Val::Int(n)] if *n < 0 => Err(Fail::new("level must be non-negative")),
            [Val::List(list), Val::Int(n)] => flatten(list, *n),
            _ => no_overload("flatten", a),
        },
        "sort" => |a| match a {
            [Val::List(list)] => sort_by_keys(list.items()?, list.items()?),
            _ => no_overload("sort", a),
        },
        "@sortByAssociatedKeys" => |a| match a {
            [Val::List(list), Val::List(keys)] => sort_by_keys(list.items()?, keys.items()?),
            _ => no_overload("@sortByAssociatedKeys", a),
        },
        "lists.range" => |a| match a {
            [Val::Int(n)] => {
                check_size(usize::try_from(*n).unwrap_or(0))?;
                Ok(Val::list((0..*n).map(Val::Int).collect()))
            }
            _ => no_overload("lists.range", a),
        },
        "reverse" => |a| match a {
            [Val::List(list)] => {
                let mut items = list.items()?;
                items.reverse();
                Ok(Val::list(items))
            }
            _ => no_overload("reverse", a),
        },
        "distinct" => |a| match a {
            [Val::List(list)] => {
                check_size(list.len().saturating_mul(list.len()))?;
                let mut out: Vec<Val<'_>> = Vec::new();
                for item in list.iter() {
                    let item = item?;
                    if !among(&out, &item)? {
                        out.push(item);
                    }
                }
                Ok(Val::list(out))
            }
            _ => no_overload("distinct", a),
        },
        "sets.contains" => |a| match a {
            [Val::List(a), Val::List(b)] => covers(a, b).map(Val::Bool),
            _ => no_overload("sets.contains", a),
        },
        "sets.equivalent" => |a| match a {
            [Val::List(a), Val::List(b)] => Ok(Val::Bool(covers(a, b)? && covers(b, a)?)),
            _ => no_overload("sets.equivalent", a),
        },
        "sets.intersects" => |a| match a {
            [Val::List(a), Val::List(b)] => {
                check_size(a.len().saturating_mul(b.len()))?;
                for item in b.iter() {
                    if a.contains(&item?)? {
                        return Ok(Val::Bool(true));
                    }
                }
                Ok(Val::Bool(false))
            }
            _ => no_overload("sets.intersects", a),
        },
        _ => return None,
    })
}

fn among<'a>(items: &[Val<'a>], item: &Val<'a>) -> Result<bool, Fail> {
    for other in items {
        if other.equal(item)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn covers<'a>(all: &List<'a>, some: &List<'a>) -> Result<bool, Fail> {
    check_size(all.len().saturating_mul(some.len()))?;
    for item in some.iter() {
        if !all.contains(&item?)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn extreme<'a>(name: &str, a: &[Val<'a>], wanted: Ordering) -> Out<'a> {
    let [Val::List(list)] = a else { return no_overload(name, a) };
    let mut items = list.items()?.into_iter();
    let mut best = items.next().ok_or_else(|| Fail::new(format!("{name} called on empty list")))?;
    for item in items {
        if item.compare(&best)? == wanted {
            best = item;
        }
    }
    Ok(best)
}

fn position<'a>(name: &str, a: &[Val<'a>], last: bool) -> Out<'a> {
    match a {
        [Val::Str(s), Val::Str(part)] => text::position(s, part, None, last).map(Val::Int),
        [Val::Str(s), Val::Str(part), Val::Int(from)] => text::position(s, part, Some(*from), last).map(Val::Int),
        [Val::List(list), item] => {
            let mut found = -1;
            for (i, other) in list.iter().enumerate() {
                if other?.equal(item)? {
                    found = i as i64;
                    if !last {
                        break;
                    }
                }
            }
            Ok(Val::Int(found))
        }
        _ => no_overload(name, a),
    }
}

fn slice<'a>(a: &[Val<'a>]) -> Out<'a> {
    let [Val::List(list), Val::Int(from), Val::Int(to)] = a else { return no_overload("slice", a) };
    let refuse = |why: String| Err(Fail::new(format!("cannot slice({from}, {to}), {why}")));
    let (Ok(start), Ok(end)) = (usize::try_from(*from), usize::try_from(*to)) else {
        return refuse("negative indexes not supported".to_owned());
    };
    if start > end {
        return refuse("start index must be less than or equal to end index".to_owned());
    }
    if end > list.len() {
        return refuse(format!("list is length {}", list.len()));
    }
    Ok(Val::list((start..end).filter_map(|i| list.get(i)).collect::<Result<_, _>>()?))
}

fn flatten<'a>(list: &List<'a>, depth: i64) -> Out<'a> {
    let mut items = list.items()?;
    for _ in 0..depth {
        if !items.iter().any(|item| matches!(item, Val::List(_))) {
            break;
        }
        let mut next = Vec::new();
        for item in items {
            match item {
                Val::List(inner) => {
                    check_size(next.len().saturating_add(inner.len()))?;
                    next.extend(inner.items()?);
                }
                other => next.push(other),
            }
        }
        items = next;
    }
    Ok(Val::list(items))
}

/// Sort items by their keys.
fn sort_by_keys<'a>(items: Vec<Val<'a>>, keys: Vec<Val<'a>>) -> Out<'a> {
    if items.len() != keys.len() {
        return Err(Fail::new("@sortByAssociatedKeys() expected a list of the same size as the associated keys list"));
    }
    for pair in keys.windows(2) {
        if pair[0].kind() != pair[1].kind() {
            return Err(Fail::new("list elements must have the same type"));
        }
        pair[0].compare(&pair[1])?;
    }
    let mut pairs: Vec<(Val<'a>, Val<'a>)> = keys.into_iter().zip(items).collect();
    pairs.sort_by(|a, b| a.0.compare(&b.0).unwrap_or(Ordering::Equal));
    Ok(Val::list(pairs.into_iter().map(|(_, item)| item).collect()))
}
