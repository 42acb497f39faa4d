//! One element of a path.

use std::cmp::Ordering;
use std::fmt;

use hydrofoil_types::{Map, SmolStr, Value};

use hydrofoil_types::notation;

/// An element of a path (structured-merge-diff `fieldpath/element.go`), in the order of the wire.
#[derive(Clone, Debug)]
pub enum PathElement {
    /// A field of a struct or a key of a map: `f:`.
    Field(SmolStr),
    /// The item with these keys, sorted by name: `k:`.
    Key(Vec<(SmolStr, Value)>),
    /// The item of a set: `v:`.
    Value(Value),
    /// The item at an index: `i:`.
    Index(i64),
}

/// The result of parsing a member name of fieldsV1.
pub(super) enum Parsed {
    Known(PathElement),
    /// An element of a kind known only to later versions.
    Later,
}

impl PathElement {
    /// Parse `f:name`; `None` if it is malformed.
    pub(super) fn parse(text: &str) -> Option<Parsed> {
        let (kind, rest) = (text.get(..1)?, text.get(1..)?.strip_prefix(':')?);
        Some(Parsed::Known(match kind {
            "f" => Self::Field(rest.into()),
            "v" => Self::Value(notation::parse(rest)?),
            "k" => {
                let Value::Object(keys) = notation::parse(rest)? else { return None };
                let mut keys: Vec<_> = keys.into_iter().collect();
                keys.sort_by(|a, b| a.0.cmp(&b.0));
                Self::Key(keys)
            }
            "i" => Self::Index(rest.parse().ok()?),
            _ => return Some(Parsed::Later),
        }))
    }

    /// Return it as a member name of fieldsV1.
    pub(super) fn wire(&self) -> SmolStr {
        let mut out = String::new();
        match self {
            Self::Field(name) => return SmolStr::from(format!("f:{name}")),
            Self::Key(keys) => {
                out.push_str("k:");
                notation::write(&mut out, &Value::Object(Map::from_unique(keys.clone())));
            }
            Self::Value(value) => {
                out.push_str("v:");
                notation::write(&mut out, value);
            }
            Self::Index(at) => out = format!("i:{at}"),
        }
        out.into()
    }
}

impl fmt::Display for PathElement {
    /// Write it as in messages: `.spec`, `[name="a"]`, `[="x"]`, `[3]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |value: &Value| match value {
            Value::Str(s) => format!("{s:?}"),
            other => {
                let mut out = String::new();
                notation::write(&mut out, other);
                out
            }
        };
        match self {
            Self::Field(name) => write!(f, ".{name}"),
            Self::Key(keys) => {
                let keys: Vec<_> = keys.iter().map(|(name, value)| format!("{name}={}", text(value))).collect();
                write!(f, "[{}]", keys.join(","))
            }
            Self::Value(value) => write!(f, "[={}]", text(value)),
            Self::Index(at) => write!(f, "[{at}]"),
        }
    }
}

impl Ord for PathElement {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Field(a), Self::Field(b)) => a.cmp(b),
            (Self::Key(a), Self::Key(b)) => keys(a, b),
            (Self::Value(a), Self::Value(b)) => compare(a, b),
            (Self::Index(a), Self::Index(b)) => a.cmp(b),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PathElement {
    fn rank(&self) -> u8 {
        match self {
            Self::Field(_) => 0,
            Self::Key(_) => 1,
            Self::Value(_) => 2,
            Self::Index(_) => 3,
        }
    }
}

impl PartialOrd for PathElement {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for PathElement {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for PathElement {}

fn keys(a: &[(SmolStr, Value)], b: &[(SmolStr, Value)]) -> Ordering {
    let pairs = a.iter().zip(b);
    let differ = pairs.map(|(x, y)| x.0.cmp(&y.0).then_with(|| compare(&x.1, &y.1))).find(|o| o.is_ne());
    differ.unwrap_or_else(|| a.len().cmp(&b.len()))
}

/// Compare values (structured-merge-diff `value.Compare`): numbers, strings, booleans, lists, maps, null.
fn compare(a: &Value, b: &Value) -> Ordering {
    let rank = |v: &Value| match v {
        Value::Float(_) | Value::Int(_) => 0,
        Value::Str(_) | Value::Raw(_) => 1,
        Value::Bool(_) => 2,
        Value::Array(_) => 3,
        Value::Object(_) => 4,
        Value::Null => 5,
    };
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => a.cmp(b),
        // Adding zero makes the two zeros equal.
        (Value::Float(a), Value::Float(b)) => (a.get() + 0.0).total_cmp(&(b.get() + 0.0)),
        (Value::Int(a), Value::Float(b)) => compare_mixed(*a, b.get()),
        (Value::Float(a), Value::Int(b)) => compare_mixed(*b, a.get()).reverse(),
        (Value::Str(a), Value::Str(b)) => a.cmp(b),
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::Array(a), Value::Array(b)) => {
            let differ = a.iter().zip(b).map(|(x, y)| compare(x, y)).find(|o| o.is_ne());
            differ.unwrap_or_else(|| a.len().cmp(&b.len()))
        }
        (Value::Object(a), Value::Object(b)) => {
            let sorted = |m: &Map| {
                let mut members: Vec<_> = m.iter().cloned().collect();
                members.sort_by(|x, y| x.0.cmp(&y.0));
                members
            };
            keys(&sorted(a), &sorted(b))
        }
        _ => rank(a).cmp(&rank(b)),
    }
}

/// Compare an integer with a number of the other form, exactly: the order must be total.
fn compare_mixed(a: i64, b: f64) -> Ordering {
    if b.fract() == 0.0 && b.abs() < 9e18 { a.cmp(&(b as i64)) } else { (a as f64).total_cmp(&b).then(Ordering::Less) }
}
