//! Reading and writing of loose objects as if they were Go structs.

use smol_str::SmolStr;

use crate::{Map, Value};

static NULL: Value = Value::Null;

/// Access to the fields of a struct value, absent ones as Go's zero value.
pub trait Read {
    /// Return a string field.
    fn text(&self, key: &str) -> &str;
    /// Return an integer field.
    fn int(&self, key: &str) -> i64;
    /// Return a pointer to an integer.
    fn opt_int(&self, key: &str) -> Option<i64>;
    /// Return a boolean field, or whether a pointer to a boolean points at true.
    fn flag(&self, key: &str) -> bool;
    /// Return a list field.
    fn list(&self, key: &str) -> &[Value];
    /// Return a struct field; null when absent.
    fn field(&self, key: &str) -> &Value;
    /// Report whether a pointer field is set.
    fn has(&self, key: &str) -> bool;
    /// Return a pointer field, when set.
    fn opt(&self, key: &str) -> Option<&Value>;
    /// Iterate over the entries of a map field.
    fn entries(&self, key: &str) -> std::slice::Iter<'_, (SmolStr, Value)>;
    /// Report whether a field is absent or zero.
    fn zero(&self, key: &str) -> bool;
}

impl Read for Value {
    fn text(&self, key: &str) -> &str {
        self.get(key).and_then(Value::as_str).unwrap_or("")
    }

    fn int(&self, key: &str) -> i64 {
        self.opt_int(key).unwrap_or(0)
    }

    fn opt_int(&self, key: &str) -> Option<i64> {
        self.get(key).and_then(Value::as_int)
    }

    fn flag(&self, key: &str) -> bool {
        self.get(key).and_then(Value::as_bool).unwrap_or(false)
    }

    fn list(&self, key: &str) -> &[Value] {
        self.get(key).and_then(Value::as_array).unwrap_or(&[])
    }

    fn field(&self, key: &str) -> &Value {
        self.get(key).unwrap_or(&NULL)
    }

    fn has(&self, key: &str) -> bool {
        self.opt(key).is_some()
    }

    fn opt(&self, key: &str) -> Option<&Value> {
        self.get(key).filter(|v| !matches!(v, Value::Null))
    }

    fn entries(&self, key: &str) -> std::slice::Iter<'_, (SmolStr, Value)> {
        const NONE: &[(SmolStr, Value)] = &[];
        self.get(key).and_then(Value::as_object).map_or_else(|| NONE.iter(), Map::iter)
    }

    fn zero(&self, key: &str) -> bool {
        self.get(key).is_none_or(Value::is_zero)
    }
}

/// Writing of struct fields; a value that is not an object is left alone.
pub trait Write {
    /// Set a field.
    fn put(&mut self, key: &str, value: impl Into<Value>);
    /// Set a pointer field that is unset.
    fn unset(&mut self, key: &str, value: impl Into<Value>);
    /// Set a plain field that is zero.
    fn fill(&mut self, key: &str, value: impl Into<Value>);
    /// Remove a field.
    fn drop(&mut self, key: &str);
    /// Call `f` for each item of a list field.
    fn each(&mut self, key: &str, f: impl FnMut(&mut Value));
    /// Call `f` with a struct field that is set.
    fn within(&mut self, key: &str, f: impl FnOnce(&mut Value));
    /// Return a struct field, which is created where it is absent.
    fn make(&mut self, key: &str) -> &mut Value;
    /// Copy a field from `old`, and remove it if it is absent there.
    fn copy_from(&mut self, old: &Value, key: &str);
}

impl Write for Value {
    fn put(&mut self, key: &str, value: impl Into<Value>) {
        if matches!(self, Value::Null) {
            *self = Value::object();
        }
        if let Some(map) = self.as_object_mut() {
            map.set(key, value);
        }
    }

    fn unset(&mut self, key: &str, value: impl Into<Value>) {
        if !self.has(key) {
            self.put(key, value);
        }
    }

    fn fill(&mut self, key: &str, value: impl Into<Value>) {
        if self.zero(key) {
            self.put(key, value);
        }
    }

    fn drop(&mut self, key: &str) {
        if let Some(map) = self.as_object_mut() {
            map.remove(key);
        }
    }

    fn each(&mut self, key: &str, f: impl FnMut(&mut Value)) {
        if let Some(items) = self.get_mut(key).and_then(Value::as_array_mut) {
            items.iter_mut().for_each(f);
        }
    }

    fn within(&mut self, key: &str, f: impl FnOnce(&mut Value)) {
        if let Some(value) = self.get_mut(key).filter(|v| v.as_object().is_some()) {
            f(value);
        }
    }

    fn make(&mut self, key: &str) -> &mut Value {
        if matches!(self, Value::Null) {
            *self = Value::object();
        }
        if !self.has(key) {
            self.put(key, Value::object());
        }
        match self {
            Value::Object(map) => map.entry(key),
            other => other,
        }
    }

    fn copy_from(&mut self, old: &Value, key: &str) {
        match old.opt(key) {
            Some(value) => self.put(key, value.clone()),
            None => self.drop(key),
        }
    }
}

/// Report whether two loose values are Go-equal: a zero field equals an absent one.
///
/// `apiequality.Semantic.DeepEqual` also takes empty and nil lists and maps as
/// equal. Only explicit callers distinguish pointers to zero from nil.
pub fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Object(x), Value::Object(y)) => {
            x.iter().all(|(k, v)| y.get(k).map_or_else(|| blank(v), |w| same(v, w)))
                && y.iter().all(|(k, w)| x.contains_key(k) || blank(w))
        }
        (Value::Array(x), Value::Array(y)) => x.len() == y.len() && x.iter().zip(y).all(|(v, w)| same(v, w)),
        (Value::Object(_) | Value::Array(_) | Value::Null, _) | (_, Value::Null) => a == b || (blank(a) && blank(b)),
        _ => a == b,
    }
}

/// Report whether a value is zero all the way down, as an unset struct is decoded.
fn blank(value: &Value) -> bool {
    match value {
        Value::Object(m) => m.iter().all(|(_, v)| blank(v)),
        // A pointer to false or 0 differs from nil, but so rarely in a compared field that the
        // plain fields, which are the many, decide.
        other => other.is_zero(),
    }
}

/// Report whether a field that is a map has the same keys with the same values in both.
pub fn same_map(a: &Value, b: &Value, key: &str) -> bool {
    let (a, b) = (a.field(key), b.field(key));
    a == b || (a.is_zero() && b.is_zero())
}

/// Report whether a field is the same in both values.
pub fn same_field(a: &Value, b: &Value, key: &str) -> bool {
    same(a.field(key), b.field(key))
}
