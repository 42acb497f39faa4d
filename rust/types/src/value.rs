//! The value tree that every object is while it is being worked on.

use smol_str::SmolStr;

/// A JSON-like value.
///
/// A decoded object of a known type is in *loose* form: fields hold values of
/// the right kind, absent means Go's zero value, and pointers keep explicit
/// zeros. The encoder writes Go's canonical form from it.
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
    Float(f64),
    /// A text; also times, quantities and base64 of bytes, in canonical form.
    Str(SmolStr),
    /// A list.
    Array(Vec<Value>),
    /// An object or map, in the order of its members.
    Object(Map),
    /// JSON that nobody has looked into: `fieldsV1` of managed fields in canonical form, `runtime.RawExtension` as it was
    /// given.
    Raw(SmolStr),
}

impl Value {
    /// A text value.
    pub fn str(s: impl Into<SmolStr>) -> Self {
        Self::Str(s.into())
    }

    /// An empty object.
    pub fn object() -> Self {
        Self::Object(Map::new())
    }

    /// Puts the members of every object in the order of their names.
    pub fn sort_members(&mut self) {
        match self {
            Self::Array(items) => items.iter_mut().for_each(Self::sort_members),
            Self::Object(map) => {
                map.0.sort_by(|a, b| a.0.cmp(&b.0));
                map.0.iter_mut().for_each(|(_, value)| value.sort_members());
            }
            _ => {}
        }
    }

    /// The text, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Str(s) => Some(s),
            _ => None,
        }
    }

    /// The integer, if it is one.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Self::Int(n) => Some(*n),
            _ => None,
        }
    }

    /// The boolean, if it is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(b) => Some(*b),
            _ => None,
        }
    }

    /// The items, if it is a list.
    pub fn as_array(&self) -> Option<&[Value]> {
        match self {
            Self::Array(a) => Some(a),
            _ => None,
        }
    }

    /// The items for change, if it is a list.
    pub fn as_array_mut(&mut self) -> Option<&mut Vec<Value>> {
        match self {
            Self::Array(a) => Some(a),
            _ => None,
        }
    }

    /// The members, if it is an object.
    pub fn as_object(&self) -> Option<&Map> {
        match self {
            Self::Object(m) => Some(m),
            _ => None,
        }
    }

    /// The members for change, if it is an object.
    pub fn as_object_mut(&mut self) -> Option<&mut Map> {
        match self {
            Self::Object(m) => Some(m),
            _ => None,
        }
    }

    /// The member `key` of an object; `None` too when this is no object.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.as_object().and_then(|m| m.get(key))
    }

    /// The member `key` for change.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        self.as_object_mut().and_then(|m| m.get_mut(key))
    }

    /// The value at a path of member names.
    pub fn at(&self, path: &[&str]) -> Option<&Value> {
        path.iter().try_fold(self, |v, key| v.get(key))
    }

    /// The text at a path; `""` when absent, as a Go field would be.
    pub fn str_at(&self, path: &[&str]) -> &str {
        self.at(path).and_then(Value::as_str).unwrap_or("")
    }

    /// The integer at a path, if set.
    pub fn int_at(&self, path: &[&str]) -> Option<i64> {
        self.at(path).and_then(Value::as_int)
    }

    /// The boolean at a path, if set.
    pub fn bool_at(&self, path: &[&str]) -> Option<bool> {
        self.at(path).and_then(Value::as_bool)
    }

    /// The list at a path; empty when absent.
    pub fn list_at(&self, path: &[&str]) -> &[Value] {
        self.at(path).and_then(Value::as_array).unwrap_or(&[])
    }

    /// The object at a path for change, made where it is absent or null.
    ///
    /// # Panics
    /// When a value on the way is neither absent, null nor an object: the
    /// decoder has checked the types by then.
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

    /// The value as compact JSON, members in their order.
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        crate::notation::write(&mut out, self);
        out
    }

    /// Whether it is Go's zero value of a non-pointer field: null, false, 0,
    /// "", an empty list or map.
    pub fn is_zero(&self) -> bool {
        match self {
            Self::Null | Self::Bool(false) | Self::Int(0) => true,
            Self::Float(f) => *f == 0.0,
            Self::Str(s) => s.is_empty(),
            Self::Array(a) => a.is_empty(),
            Self::Object(m) => m.is_empty(),
            Self::Bool(true) | Self::Int(_) | Self::Raw(_) => false,
        }
    }
}

/// The members of an object, in order, each key once.
///
/// Objects of known types hold few members, so look-up is a scan; maps with
/// user-chosen keys are kept sorted by the decoder and are iterated.
#[derive(Clone, Debug, Default)]
pub struct Map(Vec<(SmolStr, Value)>);

impl PartialEq for Map {
    /// Equal when the same keys hold equal values, whatever their order.
    fn eq(&self, other: &Self) -> bool {
        if self.len() != other.len() {
            return false;
        }
        // Keys first: each pair of values must be compared once only, or deep objects take for ever.
        if self.keys().eq(other.keys()) {
            return self.0.iter().zip(&other.0).all(|(a, b)| a.1 == b.1);
        }
        let mut a: Vec<_> = self.0.iter().collect();
        let mut b: Vec<_> = other.0.iter().collect();
        a.sort_by(|x, y| x.0.cmp(&y.0));
        b.sort_by(|x, y| x.0.cmp(&y.0));
        a.iter().map(|m| &m.0).eq(b.iter().map(|m| &m.0)) && a.iter().zip(&b).all(|(a, b)| a.1 == b.1)
    }
}

impl Map {
    /// An empty object.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// An object of members whose keys the caller knows to be distinct.
    pub fn from_unique(members: Vec<(SmolStr, Value)>) -> Self {
        Self(members)
    }

    /// How many members it has.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.iter().find(|(k, _)| k == key).map(|(_, v)| v)
    }

    /// The value of `key` for change.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        self.0.iter_mut().find(|(k, _)| k == key).map(|(_, v)| v)
    }

    /// Whether `key` is there.
    pub fn contains_key(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// The text of `key`; `""` when absent.
    pub fn str(&self, key: &str) -> &str {
        self.get(key).and_then(Value::as_str).unwrap_or("")
    }

    /// The value of `key` for change, made as null where it is absent.
    pub fn entry(&mut self, key: &str) -> &mut Value {
        let at = self.0.iter().position(|(k, _)| k == key).unwrap_or_else(|| {
            self.0.push((SmolStr::new(key), Value::Null));
            self.0.len() - 1
        });
        &mut self.0[at].1
    }

    /// The object of `key` for change, made where it is absent or no object.
    pub fn object_entry(&mut self, key: &str) -> &mut Map {
        let slot = self.entry(key);
        if slot.as_object().is_none() {
            *slot = Value::object();
        }
        match slot {
            Value::Object(map) => map,
            _ => unreachable!("it was just made an object"),
        }
    }

    /// Sets `key`, at its place or at the end.
    pub fn set(&mut self, key: impl AsRef<str> + Into<SmolStr>, value: impl Into<Value>) {
        match self.get_mut(key.as_ref()) {
            Some(slot) => *slot = value.into(),
            None => self.0.push((key.into(), value.into())),
        }
    }

    /// Appends a member whose key is known to be absent.
    pub fn push(&mut self, key: impl Into<SmolStr>, value: impl Into<Value>) {
        self.0.push((key.into(), value.into()));
    }

    /// Takes `key` out.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        let at = self.0.iter().position(|(k, _)| k == key)?;
        Some(self.0.remove(at).1)
    }

    /// The members in order.
    pub fn iter(&self) -> std::slice::Iter<'_, (SmolStr, Value)> {
        self.0.iter()
    }

    /// The members for change, in order.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&SmolStr, &mut Value)> {
        self.0.iter_mut().map(|(k, v)| (&*k, v))
    }

    /// The keys in order.
    pub fn keys(&self) -> impl Iterator<Item = &SmolStr> {
        self.0.iter().map(|(k, _)| k)
    }

    /// Sorts the members by key, as Go writes maps.
    pub fn sort_keys(&mut self) {
        self.0.sort_by(|a, b| a.0.cmp(&b.0));
    }

    /// Keeps the members for which `keep` holds.
    pub fn retain(&mut self, mut keep: impl FnMut(&str, &mut Value) -> bool) {
        self.0.retain_mut(|(k, v)| keep(k, v));
    }
}

impl<'a> IntoIterator for &'a Map {
    type Item = &'a (SmolStr, Value);
    type IntoIter = std::slice::Iter<'a, (SmolStr, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl IntoIterator for Map {
    type Item = (SmolStr, Value);
    type IntoIter = std::vec::IntoIter<(SmolStr, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
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
