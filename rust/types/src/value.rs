//! The value tree of an object in memory.

use smol_str::SmolStr;

use crate::{Finite, Map};

/// A JSON-like value.
///
/// A decoded object of a known type is in *loose* form: fields have values of the right kind, absent means Go's zero
/// value, and pointers keep explicit zeros. The encoder writes Go's canonical form from it.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Value {
    /// JSON null.
    #[default]
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A number that is not a 64-bit integer.
    Float(Finite),
    /// A string; also times, quantities and base64 of bytes, in canonical form.
    Str(SmolStr),
    /// A list.
    Array(Vec<Value>),
    /// An object or map, in the order of its members.
    Object(Map),
    /// Unparsed JSON: `fieldsV1` of managed fields in canonical form, `runtime.RawExtension` as given.
    Raw(SmolStr),
}

impl Value {
    /// Return a string value.
    pub fn str(s: impl Into<SmolStr>) -> Self {
        Self::Str(s.into())
    }

    /// Return a number; `None` for infinities and NaN, which JSON cannot hold.
    pub fn float(number: f64) -> Option<Self> {
        Finite::new(number).map(Self::Float)
    }

    /// Return an empty object.
    pub fn object() -> Self {
        Self::Object(Map::new())
    }

    /// Sort the members of every object by name.
    pub fn sort_members(&mut self) {
        match self {
            Self::Array(items) => items.iter_mut().for_each(Self::sort_members),
            Self::Object(map) => {
                map.sort_keys();
                map.iter_mut().for_each(|(_, value)| value.sort_members());
            }
            _ => {}
        }
    }

    /// Return the string, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Str(s) => Some(s),
            _ => None,
        }
    }

    /// Return the integer, if it is one.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Self::Int(n) => Some(*n),
            _ => None,
        }
    }

    /// Return the boolean, if it is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(b) => Some(*b),
            _ => None,
        }
    }

    /// Return the items, if it is a list.
    pub fn as_array(&self) -> Option<&[Value]> {
        match self {
            Self::Array(a) => Some(a),
            _ => None,
        }
    }

    /// Return the items for change, if it is a list.
    pub fn as_array_mut(&mut self) -> Option<&mut Vec<Value>> {
        match self {
            Self::Array(a) => Some(a),
            _ => None,
        }
    }

    /// Return the members, if it is an object.
    #[inline]
    pub fn as_object(&self) -> Option<&Map> {
        match self {
            Self::Object(m) => Some(m),
            _ => None,
        }
    }

    /// Return the members for change, if it is an object.
    pub fn as_object_mut(&mut self) -> Option<&mut Map> {
        match self {
            Self::Object(m) => Some(m),
            _ => None,
        }
    }

    /// Return the member `key` of an object; `None` also if this is not an object.
    #[inline]
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.as_object().and_then(|m| m.get(key))
    }

    /// Return the member `key` for change.
    #[inline]
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        self.as_object_mut().and_then(|m| m.get_mut(key))
    }

    /// Return the value at a path of member names.
    pub fn at(&self, path: &[&str]) -> Option<&Value> {
        path.iter().try_fold(self, |v, key| v.get(key))
    }

    /// Return the string at a path; `""` if absent, like a Go field.
    pub fn str_at(&self, path: &[&str]) -> &str {
        self.at(path).and_then(Value::as_str).unwrap_or("")
    }

    /// Return the integer at a path, if set.
    pub fn int_at(&self, path: &[&str]) -> Option<i64> {
        self.at(path).and_then(Value::as_int)
    }

    /// Return the boolean at a path, if set.
    pub fn bool_at(&self, path: &[&str]) -> Option<bool> {
        self.at(path).and_then(Value::as_bool)
    }

    /// Return the list at a path; empty if absent.
    pub fn list_at(&self, path: &[&str]) -> &[Value] {
        self.at(path).and_then(Value::as_array).unwrap_or(&[])
    }

    /// Return the object at a path for change; insert it where absent or null.
    ///
    /// # Panics
    /// If a value on the path is neither absent, null nor an object: the decoder has checked the types.
    pub fn object_at_mut(&mut self, path: &[&str]) -> &mut Map {
        let mut here = self;
        for key in path {
            let map = here.as_object_mut().expect("a path goes through objects");
            let next = map.entry(key);
            if matches!(next, Value::Null) {
                *next = Value::object();
            }
            here = next;
        }
        if matches!(here, Value::Null) {
            *here = Value::object();
        }
        here.as_object_mut().expect("a path ends at an object")
    }

    /// Return the value as compact JSON, members in their order.
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        crate::notation::write(&mut out, self);
        out
    }

    /// Report whether it is Go's zero value of a non-pointer field: null, false, 0, "", an empty list or map.
    pub fn is_zero(&self) -> bool {
        match self {
            Self::Null | Self::Bool(false) | Self::Int(0) => true,
            Self::Float(f) => f.get() == 0.0,
            Self::Str(s) => s.is_empty(),
            Self::Array(a) => a.is_empty(),
            Self::Object(m) => m.is_empty(),
            Self::Bool(true) | Self::Int(_) | Self::Raw(_) => false,
        }
    }
}

macro_rules! from {
    ($($t:ty => |$x:ident| $e:expr),* $(,)?) => {
        $(impl From<$t> for Value { fn from($x: $t) -> Self { $e } })*
    };
}

from! {
    &str => |s| Self::Str(SmolStr::new(s)),
    String => |s| Self::Str(SmolStr::from(s)),
    SmolStr => |s| Self::Str(s),
    i64 => |n| Self::Int(n),
    bool => |b| Self::Bool(b),
    Map => |m| Self::Object(m),
    Vec<Value> => |a| Self::Array(a),
}
