//! The runtime cost of a call (cel-go `interpreter/runtimecost.go`, `ext`; apiserver `pkg/cel/library/cost.go`).

#![allow(
    clippy::arithmetic_side_effects,
    reason = "sizes and costs are bounded by the budget of a run; numbers of a rule are calculated with checks"
)]

use crate::size::{LIST, PATTERN, TEXT, scale};
use crate::value::Val;

/// The formula for the cost of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Charge {
    None,
    One,
    /// The first argument is traversed this many times.
    Text(f64),
    /// The result is concatenated.
    Join,
    /// A string is searched for a pattern.
    Pattern,
    /// A string is searched for another.
    Within,
    /// Two values are traversed up to the length of the shorter.
    Shorter,
    /// The second argument is a list that is traversed.
    Member,
    /// Two strings are concatenated.
    Concat,
    /// All strings of a list are traversed.
    Deep,
    /// A list as long as the result is created.
    Made,
    /// A list is created from one as long as the first argument.
    Flatten,
    /// The items of a list are compared with each other; the index of the argument.
    Squared(usize),
    /// The items of two lists are compared.
    Pairs(f64),
    /// Addresses of a network are compared.
    Network(bool),
    /// A string is checked for a named format.
    Named,
    /// The second argument is traversed.
    Second,
}

impl Charge {
    /// Return the formula of a function.
    pub fn of(name: &str) -> Self {
        match name {
            "isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf" => Self::Deep,
            "url" | "lowerAscii" | "upperAscii" | "substring" | "trim" | "cidr" | "isIP" | "isCIDR" | "ip"
            | "quantity" | "isQuantity" | "semver" | "isSemver" | "startsWith" | "endsWith" | "bytes"
            | "strings.quote" | "format" => Self::Text(TEXT),
            "replace" | "split" | "ip.isCanonical" => Self::Text(2.0 * TEXT),
            "join" => Self::Join,
            "find" | "findAll" | "matches" => Self::Pattern,
            "contains" => Self::Within,
            "_==_" | "_!=_" | "_<_" | "_<=_" | "_>_" | "_>=_" => Self::Shorter,
            "@in" => Self::Member,
            "_+_" => Self::Concat,
            "slice" | "lists.range" | "reverse" => Self::Made,
            "flatten" => Self::Flatten,
            "distinct" | "sort" => Self::Squared(0),
            "@sortByAssociatedKeys" => Self::Squared(1),
            "sets.contains" | "sets.intersects" => Self::Pairs(1.0),
            "sets.equivalent" => Self::Pairs(2.0),
            "containsIP" => Self::Network(false),
            "containsCIDR" => Self::Network(true),
            "validate" => Self::Named,
            "fieldSelector" | "labelSelector" => Self::Second,
            _ => Self::One,
        }
    }

    /// Return the cost of a call before it, where the result does not matter.
    pub fn ahead(self, args: &[Val<'_>]) -> Option<u64> {
        match self {
            Self::Join | Self::Made => None,
            _ => Some(self.cost(args, &Val::Null)),
        }
    }

    /// Return the size of a call's result in units of cost, roughly: a string that grows is charged by its former length.
    pub fn size(self, args: &[Val<'_>]) -> u64 {
        match (self, args) {
            (Self::Made, [Val::Int(length)]) => u64::try_from(*length).unwrap_or(0),
            (Self::Made, [list, ..]) => list.size(),
            (Self::Join, [list, ..]) | (Self::Text(_), [Val::Str(_), list @ Val::List(_)]) => traversal(list),
            (Self::Text(_), [Val::Str(text), _, Val::Str(with), ..]) => {
                (text.len().saturating_mul(with.len()) as f64 * TEXT) as u64
            }
            _ => 0,
        }
    }

    /// Return the cost of a call.
    pub fn cost(self, args: &[Val<'_>], result: &Val<'_>) -> u64 {
        let size = |n: usize| args.get(n).map_or(1, Val::size);
        let made = |n: u64, factor: f64| (n as f64 * factor) as u64 + 1 + LIST;
        match self {
            Self::None => 0,
            Self::One => 1,
            Self::Text(_) if matches!(args.first(), Some(Val::Cidr(_))) => 1,
            Self::Text(factor) => scale(size(0), factor),
            Self::Join => scale(result.size(), 2.0 * TEXT),
            Self::Pattern => scale(size(0) + 1, TEXT) * scale(size(1), PATTERN),
            Self::Within => scale(size(0), TEXT) * scale(size(1), TEXT),
            Self::Shorter => match (&args.first(), args.get(1)) {
                (Some(Val::Quantity(_) | Val::Ip(_) | Val::Cidr(_) | Val::Url(_) | Val::Semver(_)), _) => 1,
                _ => scale(size(0).min(size(1)), TEXT),
            },
            Self::Member => match args.get(1) {
                Some(Val::List(list)) => list.len() as u64,
                _ => 1,
            },
            Self::Concat => match args.first() {
                Some(Val::Str(_) | Val::Bytes(_)) => scale(size(0) + size(1), TEXT),
                _ => 1,
            },
            Self::Deep => args.first().map_or(0, traversal),
            Self::Made => made(result.size(), 1.0),
            Self::Flatten => match args.get(1) {
                Some(Val::Int(depth)) => made(size(0), *depth as f64),
                _ => made(size(0), 1.0),
            },
            Self::Squared(n) => {
                let texts = match args.get(n) {
                    Some(Val::List(list)) => matches!(list.get(0), Some(Ok(Val::Str(_) | Val::Bytes(_)))),
                    _ => false,
                };
                made(size(n).saturating_mul(size(n)), if texts { 2.0 + TEXT } else { 2.0 })
            }
            Self::Pairs(factor) => 1 + (size(0).saturating_mul(size(1)) as f64 * factor) as u64,
            Self::Network(cidr) => {
                let own = scale(2 * size(0), TEXT) + if cidr { scale(size(0), TEXT) + 1 } else { 0 };
                own + if matches!(args.get(1), Some(Val::Str(_))) { scale(size(1), TEXT) } else { 0 }
            }
            Self::Second => scale(size(1), TEXT),
            Self::Named => match args.first() {
                Some(Val::Format(format)) => scale(size(1) + 1, TEXT) * scale(format.length, PATTERN),
                _ => 1,
            },
        }
    }
}

/// Return the cost of traversing a value, strings by their length.
fn traversal(value: &Val<'_>) -> u64 {
    match value {
        Val::Str(text) => (text.len() as f64 * TEXT) as u64,
        Val::Bytes(bytes) => (bytes.len() as f64 * TEXT) as u64,
        Val::List(list) => list.iter().flatten().map(|v| traversal(&v)).sum(),
        Val::Map(map) => map
            .keys()
            .iter()
            .map(|key| traversal(key) + map.get(key).and_then(Result::ok).map_or(0, |v| traversal(&v)))
            .sum(),
        _ => 1,
    }
}
