//! Values while an expression is evaluated. What stands in an object is looked at where it is, never copied
//! (apiserver `pkg/cel/common/valuesunstructured.go`).

use std::cmp::Ordering;
use std::net::IpAddr;
use std::ops::Deref;
use std::rc::Rc;

use base64::Engine as _;
use hydrofoil_types::{Map, Quantity, Timestamp, Value};
use smol_str::SmolStr;

use crate::decl::{Decl, Order, Shape};
use crate::format::Format;
use crate::net::Cidr;
use crate::semver::Semver;
use crate::url::Url;

/// Why there is no value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Fail {
    Error(String),
    /// What the expression may cost is used up.
    Budget,
}

impl Fail {
    pub fn new(text: impl Into<String>) -> Self {
        Self::Error(text.into())
    }

    pub fn overload() -> Self {
        Self::new("no such overload")
    }
}

/// The most items a list, and a tenth of the most bytes a text, that a run makes may have: with more, what upstream
/// charges once it is made is more than a run may cost, or nobody has the memory.
pub(crate) const LARGEST: usize = 1_000_000;

/// That something as large may be made.
pub(crate) fn bounded(size: usize) -> Result<(), Fail> {
    if size > LARGEST { Err(Fail::Budget) } else { Ok(()) }
}

/// A value, or why there is none.
pub(crate) type Out<'a> = Result<Val<'a>, Fail>;

/// A text of the object or of the expression, or a new one.
#[derive(Clone, Debug)]
pub(crate) enum Text<'a> {
    Ref(&'a str),
    Own(Rc<str>),
}

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Self::Ref(text) => text,
            Self::Own(text) => text,
        }
    }
}

/// A list of the object, or a new one.
#[derive(Clone, Debug)]
pub(crate) enum List<'a> {
    Data(&'a [Value], &'a Decl),
    Own(Rc<Vec<Val<'a>>>),
}

/// An object or map of the object, or a new one.
#[derive(Clone, Debug)]
pub(crate) enum Table<'a> {
    Data(&'a Map, &'a Decl),
    Own(Rc<Vec<(Val<'a>, Val<'a>)>>),
}

/// A value.
#[derive(Clone, Debug)]
pub(crate) enum Val<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    Str(Text<'a>),
    Bytes(Rc<[u8]>),
    /// Nanoseconds.
    Duration(i64),
    Time(Timestamp),
    List(List<'a>),
    Map(Table<'a>),
    Type(SmolStr),
    Optional(Option<Rc<Val<'a>>>),
    Ip(IpAddr),
    Cidr(Cidr),
    Url(Rc<Url>),
    Quantity(Quantity),
    Semver(Rc<Semver>),
    Format(&'static Format),
}

impl<'a> Val<'a> {
    pub fn text(text: impl Into<Rc<str>>) -> Self {
        Self::Str(Text::Own(text.into()))
    }

    pub fn list(items: Vec<Self>) -> Self {
        Self::List(List::Own(Rc::new(items)))
    }

    pub fn some(value: Self) -> Self {
        Self::Optional(Some(Rc::new(value)))
    }

    /// A part of an object by its declaration.
    pub fn of(value: &'a Value, decl: &'a Decl) -> Out<'a> {
        let invalid = |what: &str| Err(Fail::new(format!("invalid data, expected {what}")));
        Ok(match (&decl.shape, value) {
            (_, Value::Null) if decl.nullable => Self::Null,
            (_, Value::Null) => return Err(Fail::new("invalid data, got null for schema with nullable=false")),
            (Shape::Dyn | Shape::Str, Value::Str(text)) => Self::Str(Text::Ref(text)),
            (Shape::Dyn | Shape::Int, Value::Int(n)) => Self::Int(*n),
            (Shape::Int, Value::Float(f)) if f.fract() == 0.0 => Self::Int(*f as i64),
            (Shape::Bool, Value::Bool(b)) => Self::Bool(*b),
            (Shape::Double, Value::Int(n)) => Self::Double(*n as f64),
            (Shape::Double, Value::Float(f)) => Self::Double(*f),
            (Shape::Bytes, Value::Str(text)) => match base64::engine::general_purpose::STANDARD.decode(text.as_str()) {
                Ok(bytes) => Self::Bytes(bytes.into()),
                Err(why) => return Err(Fail::new(format!("Invalid byte formatted string {text}: {why}"))),
            },
            (Shape::Duration, Value::Str(text)) => match crate::time::parse_long_duration(text) {
                Some(n) => Self::Duration(n),
                None => return Err(Fail::new(format!("Invalid duration {text}: unable to parse {text} as duration"))),
            },
            (Shape::Date, Value::Str(text)) => match Timestamp::parse(&format!("{text}T00:00:00Z")) {
                Some(t) => Self::Time(t),
                None => return Err(Fail::new(format!("Invalid date formatted string {text}"))),
            },
            (Shape::Time, Value::Str(text)) => match Timestamp::parse(text) {
                Some(t) => Self::Time(t),
                None => return Err(Fail::new(format!("Invalid date-time formatted string {text}"))),
            },
            (Shape::List(..), Value::Array(items)) => Self::List(List::Data(items, decl)),
            (Shape::Map(_) | Shape::Object(_), Value::Object(map)) => Self::Map(Table::Data(map, decl)),
            (Shape::Dyn, _) => return invalid("XIntOrString value to be either a string or integer"),
            (Shape::Map(_) | Shape::Object(_), _) => return invalid("a map for the provided schema with type=object"),
            (Shape::List(..), _) => return invalid("an array for the provided schema with type=array"),
            (Shape::Bool, _) => return invalid("bool"),
            (Shape::Int, _) => return invalid("int"),
            (Shape::Double, _) => return invalid("float"),
            _ => return invalid("string"),
        })
    }

    /// The name of its type.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null_type",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Uint(_) => "uint",
            Self::Double(_) => "double",
            Self::Str(_) => "string",
            Self::Bytes(_) => "bytes",
            Self::Duration(_) => "google.protobuf.Duration",
            Self::Time(_) => "google.protobuf.Timestamp",
            Self::List(_) => "list",
            Self::Map(_) => "map",
            Self::Type(_) => "type",
            Self::Optional(_) => "optional_type",
            Self::Ip(_) => "net.IP",
            Self::Cidr(_) => "net.CIDR",
            Self::Url(_) => "kubernetes.URL",
            Self::Quantity(_) => "kubernetes.Quantity",
            Self::Semver(_) => "kubernetes.Semver",
            Self::Format(_) => "kubernetes.NamedFormat",
        }
    }

    /// How large costs take it to be.
    pub fn size(&self) -> u64 {
        (match self {
            Self::Str(text) => text.chars().count(),
            Self::Bytes(bytes) => bytes.len(),
            Self::List(list) => list.len(),
            Self::Map(map) => map.len(),
            Self::Optional(Some(value)) => return value.size(),
            Self::Ip(ip) => {
                if ip.is_ipv4() {
                    4
                } else {
                    16
                }
            }
            Self::Cidr(cidr) => usize::from(cidr.bits).div_ceil(8),
            _ => 1,
        }) as u64
    }

    /// Whether two values are equal. Numbers are by value, other kinds differ from each other.
    pub fn equal(&self, other: &Self) -> Result<bool, Fail> {
        Ok(match (self, other) {
            (Self::Null, Self::Null) | (Self::Optional(None), Self::Optional(None)) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Str(a), Self::Str(b)) => **a == **b,
            (Self::Bytes(a), Self::Bytes(b)) => a == b,
            (Self::Duration(a), Self::Duration(b)) => a == b,
            (Self::Time(a), Self::Time(b)) => a == b,
            (Self::Type(a), Self::Type(b)) => a == b,
            (Self::Ip(a), Self::Ip(b)) => a == b,
            (Self::Cidr(a), Self::Cidr(b)) => a == b,
            (Self::Url(a), Self::Url(b)) => a == b,
            (Self::Quantity(a), Self::Quantity(b)) => a == b,
            (Self::Semver(a), Self::Semver(b)) => a.compare(b) == Ordering::Equal,
            (Self::Format(a), Self::Format(b)) => a.name == b.name,
            (Self::Optional(Some(a)), Self::Optional(Some(b))) => a.equal(b)?,
            (Self::List(a), Self::List(b)) => a.equal(b)?,
            (Self::Map(a), Self::Map(b)) => a.equal(b)?,
            _ => self.number(other) == Ok(Some(Ordering::Equal)),
        })
    }

    /// How two numbers compare; nothing when one is not to be compared with any.
    fn number(&self, other: &Self) -> Result<Option<Ordering>, Fail> {
        let whole = |v: &Self| match v {
            Self::Int(n) => Some(i128::from(*n)),
            Self::Uint(n) => Some(i128::from(*n)),
            _ => None,
        };
        // Upstream compares what is within reach as doubles, though not every whole number is one.
        let mixed = |f: f64, n: &Self| {
            let (least, most, as_double) = match n {
                Self::Uint(n) => (0.0, u64::MAX as f64, *n as f64),
                Self::Int(n) => (i64::MIN as f64, i64::MAX as f64, *n as f64),
                _ => return None,
            };
            if f < least {
                Some(Ordering::Less)
            } else if f > most {
                Some(Ordering::Greater)
            } else {
                f.partial_cmp(&as_double)
            }
        };
        Ok(match (self, other, whole(self), whole(other)) {
            (.., Some(a), Some(b)) => Some(a.cmp(&b)),
            (Self::Double(a), Self::Double(b), ..) => a.partial_cmp(b),
            (Self::Double(a), _, _, Some(_)) => mixed(*a, other),
            (_, Self::Double(b), Some(_), _) => mixed(*b, self).map(Ordering::reverse),
            _ => return Err(Fail::overload()),
        })
    }

    /// How two values of one ordered kind compare.
    pub fn compare(&self, other: &Self) -> Result<Ordering, Fail> {
        Ok(match (self, other) {
            (Self::Bool(a), Self::Bool(b)) => a.cmp(b),
            (Self::Str(a), Self::Str(b)) => (**a).cmp(&**b),
            (Self::Bytes(a), Self::Bytes(b)) => a.cmp(b),
            (Self::Duration(a), Self::Duration(b)) => a.cmp(b),
            (Self::Time(a), Self::Time(b)) => a.cmp(b),
            _ => self.number(other)?.ok_or_else(|| Fail::new("NaN values cannot be ordered"))?,
        })
    }

    /// How errors show it.
    pub fn shown(&self) -> String {
        match self {
            Self::Bool(b) => b.to_string(),
            Self::Int(n) => n.to_string(),
            Self::Uint(n) => n.to_string(),
            Self::Double(f) => f.to_string(),
            Self::Str(text) => text.to_string(),
            other => other.kind().to_owned(),
        }
    }
}

impl<'a> List<'a> {
    pub fn len(&self) -> usize {
        match self {
            Self::Data(items, _) => items.len(),
            Self::Own(items) => items.len(),
        }
    }

    pub fn get(&self, at: usize) -> Option<Out<'a>> {
        match self {
            Self::Data(items, decl) => {
                let decl = decl.element()?;
                items.get(at).map(|v| Val::of(v, decl))
            }
            Self::Own(items) => items.get(at).cloned().map(Ok),
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = Out<'a>> + '_ {
        (0..self.len()).filter_map(|i| self.get(i))
    }

    pub fn items(&self) -> Result<Vec<Val<'a>>, Fail> {
        self.iter().collect()
    }

    pub fn order(&self) -> &Order {
        match self {
            Self::Data(_, Decl { shape: Shape::List(_, order), .. }) => order,
            _ => &Order::Kept,
        }
    }

    pub fn contains(&self, value: &Val<'a>) -> Result<bool, Fail> {
        for item in self.iter() {
            if item?.equal(value)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a set has an item. Upstream looks for what expressions see among what the object has, so that no integer
    /// is found that is declared a number (`unstructuredSetList.getSet`).
    pub fn holds(&self, value: &Val<'a>) -> Result<bool, Fail> {
        let converted = |i: usize| match self {
            Self::Data(items, decl) => {
                matches!(items.get(i), Some(Value::Int(_)))
                    && decl.element().is_some_and(|d| matches!(d.shape, Shape::Double))
            }
            Self::Own(_) => false,
        };
        for (i, item) in self.iter().enumerate() {
            if !converted(i) && item?.equal(value)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn equal(&self, other: &Self) -> Result<bool, Fail> {
        if self.len() != other.len() {
            return Ok(false);
        }
        for (i, item) in self.iter().enumerate() {
            let item = item?;
            let same = match self.order() {
                Order::Kept => match other.get(i) {
                    Some(found) => item.equal(&found?)?,
                    None => false,
                },
                Order::Set => match other.get(i) {
                    Some(theirs) => self.holds(&theirs?)?,
                    None => false,
                },
                Order::Keyed(keys) => match other.keyed(&item, keys)? {
                    Some(found) => item.equal(&found)?,
                    None => false,
                },
            };
            if !same {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The item with the keys of another.
    pub fn keyed(&self, like: &Val<'a>, keys: &[SmolStr]) -> Result<Option<Val<'a>>, Fail> {
        let Val::Map(like) = like else { return Ok(None) };
        for item in self.iter() {
            let item = item?;
            let Val::Map(map) = &item else { continue };
            let mut same = true;
            for key in keys {
                same &= match (map.named(key), like.named(key)) {
                    (Some(a), Some(b)) => a?.equal(&b?)?,
                    (a, b) => a.is_none() && b.is_none(),
                };
            }
            if same {
                return Ok(Some(item));
            }
        }
        Ok(None)
    }
}

impl<'a> Table<'a> {
    pub fn len(&self) -> usize {
        match self {
            Self::Data(map, _) => map.len(),
            Self::Own(entries) => entries.len(),
        }
    }

    /// The member of a name as expressions write it.
    pub fn field(&self, escaped: &str) -> Option<Out<'a>> {
        match self {
            Self::Data(map, decl) => {
                if let Shape::Map(of) = &decl.shape {
                    return map.get(escaped).map(|v| Val::of(v, of));
                }
                let field = decl.field(escaped)?;
                // A field that is null is as good as absent, unlike a value of a map.
                let found = map.get(&field.name).filter(|v| !matches!(v, Value::Null));
                found.map(|v| Val::of(v, &field.decl))
            }
            Self::Own(_) => self.get(&Val::Str(Text::Own(escaped.into()))),
        }
    }

    /// The member of a name in the object.
    pub fn named(&self, name: &str) -> Option<Out<'a>> {
        match self {
            Self::Data(map, decl) => {
                let decl = decl.member(name).or_else(|| decl.element())?;
                map.get(name).map(|v| Val::of(v, decl))
            }
            Self::Own(_) => self.field(name),
        }
    }

    /// The value of a key.
    pub fn get(&self, key: &Val<'a>) -> Option<Out<'a>> {
        match (self, key) {
            (Self::Data(..), Val::Str(key)) => self.field(key),
            (Self::Data(..), _) => None,
            (Self::Own(entries), _) => {
                entries.iter().find(|(k, _)| k.equal(key) == Ok(true)).map(|(_, v)| Ok(v.clone()))
            }
        }
    }

    /// The keys, as expressions write them.
    pub fn keys(&self) -> Vec<Val<'a>> {
        match self {
            Self::Data(map, decl) => map
                .iter()
                .filter_map(|(key, _)| match &decl.shape {
                    Shape::Object(fields) => {
                        let found: &'a _ = fields.named(key)?;
                        Some(Val::Str(Text::Ref(found.escaped.as_deref()?)))
                    }
                    _ => Some(Val::Str(Text::Ref(key))),
                })
                .collect(),
            Self::Own(entries) => entries.iter().map(|(k, _)| k.clone()).collect(),
        }
    }

    fn equal(&self, other: &Self) -> Result<bool, Fail> {
        if let (Self::Data(a, decl), Self::Data(b, _)) = (self, other) {
            return same_members(a, b, decl);
        }
        if self.len() != other.len() {
            return Ok(false);
        }
        for key in self.keys() {
            let (Some(a), Some(b)) = (self.get(&key), other.get(&key)) else { return Ok(false) };
            if !a?.equal(&b?)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Members without a declaration count as they are.
fn same_members(a: &Map, b: &Map, decl: &Decl) -> Result<bool, Fail> {
    if a.len() != b.len() {
        return Ok(false);
    }
    for (key, value) in a {
        let Some(other) = b.get(key) else { return Ok(false) };
        let same = match decl.member(key).or_else(|| decl.element()) {
            Some(decl) => Val::of(value, decl)?.equal(&Val::of(other, decl)?)?,
            None => value == other,
        };
        if !same {
            return Ok(false);
        }
    }
    Ok(true)
}
