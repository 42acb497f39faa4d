//! The costs of single functions and the sizes of their results.

use super::{Estimate, ONE};
use crate::ast::{Call, Kind, Literal};
use crate::size::{LIST, Range, TEXT};

/// Estimate functions of `ext/lists.go` and `ext/sets.go`.
pub(crate) fn lists(
    call: &Call,
    id: &str,
    first: Option<Range>,
    second: Option<Range>,
    target: Option<Range>,
) -> Option<Estimate> {
    let number = |n: usize, otherwise: u64| match call.args.get(n).map(|a| &a.kind) {
        Some(Kind::Literal(Literal::Int(n))) => (*n).max(0) as u64,
        _ => otherwise,
    };
    let made = |factor: f64, size: Range| {
        Some(Estimate { cost: size.factor(factor).plus(Range::exactly(1 + LIST)), size: Some(size) })
    };
    let squared = |size: Range| size.times(size);
    let texts = id.starts_with("list_string_") || id.starts_with("list_bytes_");
    let sorting = if texts { 2.0 + TEXT } else { 2.0 };
    match (id, first, second, target) {
        ("list_slice", _, _, Some(s)) => made(1.0, Range::exactly(number(1, s.max).wrapping_sub(number(0, 0)))),
        ("list_flatten_int", _, _, Some(s)) => made(number(0, u64::MAX) as f64, s),
        ("lists_range", ..) => made(1.0, Range::exactly(number(0, u64::MAX))),
        ("list_flatten" | "list_reverse", _, _, Some(s)) => made(1.0, s),
        ("list_distinct", _, _, Some(s)) => made(2.0, squared(s)),
        (id, _, _, Some(s)) if id.ends_with("_sort") => made(sorting, squared(s)),
        (id, Some(keys), ..) if id.ends_with("_sortByAssociatedKeys") => made(sorting, squared(keys)),
        ("list_sets_contains_list" | "list_sets_intersects_list", Some(a), Some(b), _) => {
            Some(Estimate { cost: a.times(b).plus(ONE), size: None })
        }
        ("list_sets_equivalent_list", Some(a), Some(b), _) => {
            Some(Estimate { cost: a.times(b).factor(2.0).plus(ONE), size: None })
        }
        _ => None,
    }
}

/// Report whether a function always costs one.
pub(crate) fn nominal(name: &str) -> bool {
    matches!(
        name,
        "masked"
            | "prefixLength"
            | "family"
            | "isUnspecified"
            | "isLoopback"
            | "isLinkLocalMulticast"
            | "isLinkLocalUnicast"
            | "isGlobalUnicast"
            | "format.named"
            | "sign"
            | "asInteger"
            | "isInteger"
            | "asApproximateFloat"
            | "isGreaterThan"
            | "isLessThan"
            | "compareTo"
            | "add"
            | "sub"
            | "major"
            | "minor"
            | "patch"
            | "getScheme"
            | "getHostname"
            | "getHost"
            | "getPort"
            | "getEscapedPath"
            | "getQuery"
    )
}

/// Report whether an overload traverses both arguments up to the length of the shorter.
pub(crate) fn compares(id: &str) -> bool {
    matches!(
        id,
        "less_string"
            | "greater_string"
            | "less_equals_string"
            | "greater_equals_string"
            | "less_bytes"
            | "greater_bytes"
            | "less_equals_bytes"
            | "greater_equals_bytes"
            | "equals"
            | "not_equals"
    )
}

/// Return the size of a string after a replacement.
pub(crate) fn replaced_size(s: Range, from: Range, to: Range) -> Range {
    let (mut count, mut kept) = (Range::ZERO, Range::ZERO);
    if from.min == 0 {
        count.max = s.max.saturating_add(1);
        kept.max = s.max;
    } else if to.max <= from.min {
        kept.max = s.max;
    } else {
        count.max = (s.max as f64 / from.min as f64).ceil() as u64;
    }
    if from.max == 0 {
        count.min = s.min.saturating_add(1);
        kept.min = s.min;
    } else if from.max <= to.min {
        kept.min = s.min;
    } else {
        count.min = (s.min as f64 / from.max as f64).ceil() as u64;
    }
    count.times(to).plus(kept)
}
