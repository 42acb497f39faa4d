//! Values during evaluation. Parts of an object are used in place, never copied (apiserver
//! `pkg/cel/common/valuesunstructured.go`).

mod cidr;
mod entries;
mod fail;
mod finder;
pub(crate) mod format;
mod index;
mod json;
mod list;
mod message;
mod right;
mod semver;
mod table;
pub(crate) mod time;
pub(crate) mod url;

use std::cmp::Ordering;
use std::net::IpAddr;
use std::ops::Deref;
use std::rc::Rc;

use base64::Engine as _;
use hydrofoil_types::{Quantity, Timestamp, Value};
use smol_str::SmolStr;

use crate::decl::{Decl, Shape};
pub(crate) use cidr::Cidr;
pub(crate) use entries::Entries;
pub(crate) use fail::{Fail, LARGEST, check_size};
pub(crate) use finder::Finder;
use format::Format;
pub(crate) use list::List;
pub(crate) use message::Message;
pub use right::Verdict;
pub(crate) use right::{Right, Stage};
pub(crate) use semver::Semver;
pub(crate) use table::Table;
use url::Url;

/// A value, or the reason why there is none.
pub(crate) type Out<'a> = Result<Val<'a>, Fail>;

/// A string of the object or of the expression, or a new one.
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
    /// The nanoseconds of a duration.
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
    /// An authorizer, or what it is asked about.
    Right(Rc<Right>),
    /// The decision of an authorizer.
    Verdict(&'a Verdict),
    /// An object of a patch.
    Message(Rc<Message<'a>>),
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

    /// Return a part of an object by its declaration.
    pub fn of(value: &'a Value, decl: &'a Decl) -> Out<'a> {
        let invalid = |what: &str| Err(Fail::new(format!("invalid data, expected {what}")));
        Ok(match (&decl.shape, value) {
            (_, Value::Null) if decl.nullable => Self::Null,
            (_, Value::Null) => return Err(Fail::new("invalid data, got null for schema with nullable=false")),
            (Shape::Dyn | Shape::Any | Shape::Str, Value::Str(text)) => Self::Str(Text::Ref(text)),
            (Shape::Dyn | Shape::Any | Shape::Int, Value::Int(n)) => Self::Int(*n),
            (Shape::Int, Value::Float(f)) if f.fract() == 0.0 => Self::Int(f.get() as i64),
            (Shape::Bool | Shape::Any, Value::Bool(b)) => Self::Bool(*b),
            (Shape::Double, Value::Int(n)) => Self::Double(*n as f64),
            (Shape::Double | Shape::Any, Value::Float(f)) => Self::Double(f.get()),
            (Shape::Bytes, Value::Str(text)) => match base64::engine::general_purpose::STANDARD.decode(text.as_str()) {
                Ok(bytes) => Self::Bytes(bytes.into()),
                Err(why) => return Err(Fail::new(format!("Invalid byte formatted string {text}: {why}"))),
            },
            (Shape::Duration, Value::Str(text)) => match time::parse_long_duration(text) {
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
            (Shape::List(..) | Shape::Any, Value::Array(items)) => Self::List(List::Data(items, decl)),
            (Shape::Map(_) | Shape::Object(_) | Shape::Any, Value::Object(map)) => Self::Map(Table::Data(map, decl)),
            (Shape::Dyn, _) => return invalid("XIntOrString value to be either a string or integer"),
            (Shape::Map(_) | Shape::Object(_), _) => return invalid("a map for the provided schema with type=object"),
            (Shape::List(..), _) => return invalid("an array for the provided schema with type=array"),
            (Shape::Any, _) => return invalid("JSON"),
            (Shape::Bool, _) => return invalid("bool"),
            (Shape::Int, _) => return invalid("int"),
            (Shape::Double, _) => return invalid("float"),
            _ => return invalid("string"),
        })
    }

    /// Return the name of the type.
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
            Self::Right(right) => right.kind(),
            Self::Verdict(_) => "kubernetes.authorization.Decision",
            Self::Message(_) => "Object",
        }
    }

    /// Return the name of the type in cel-go's code.
    pub fn go_type(&self) -> &'static str {
        match self {
            Self::Null => "types.Null",
            Self::Bool(_) => "types.Bool",
            Self::Int(_) => "types.Int",
            Self::Uint(_) => "types.Uint",
            Self::Double(_) => "types.Double",
            Self::Str(_) => "types.String",
            Self::Bytes(_) => "types.Bytes",
            Self::Duration(_) => "types.Duration",
            Self::Time(_) => "types.Timestamp",
            Self::Type(_) => "*types.Type",
            Self::Optional(_) => "*types.Optional",
            Self::Ip(_) => "cel.IP",
            Self::Cidr(_) => "cel.CIDR",
            Self::Url(_) => "cel.URL",
            Self::Quantity(_) => "cel.Quantity",
            Self::Semver(_) => "cel.Semver",
            Self::Format(_) => "*cel.Format",
            Self::Right(_) => "library.authorizerVal",
            Self::Verdict(_) => "library.decisionVal",
            Self::Message(_) => "*dynamic.ObjectVal",
            Self::List(_) | Self::Map(_) => "traits.Iterable",
        }
    }

    /// Return the size for the cost.
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

    /// Report whether two values are equal. Numbers compare by value, other values of different types are unequal.
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

    /// Compare two numbers; `None` if one is NaN.
    fn number(&self, other: &Self) -> Result<Option<Ordering>, Fail> {
        let whole = |v: &Self| match v {
            Self::Int(n) => Some(i128::from(*n)),
            Self::Uint(n) => Some(i128::from(*n)),
            _ => None,
        };
        // Upstream compares numbers within range as doubles, although not every integer is representable.
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

    /// Compare two values of one ordered type.
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

    /// Return its form in errors.
    pub fn error_text(&self) -> String {
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

/// Return a number like Go's `strconv.FormatFloat(f, 'g', -1, 64)`.
pub(crate) fn number(f: f64) -> String {
    if f.is_nan() {
        return "NaN".to_owned();
    }
    if f.is_infinite() {
        return if f > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    let text = format!("{f:e}");
    let exponent: i32 = text.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    if (-4..21).contains(&exponent) {
        return format!("{f}");
    }
    let digits = text.split_once('e').map_or("", |(d, _)| d);
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}
