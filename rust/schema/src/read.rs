//! Reading and writing of loose objects as if they were Go structs.

use hydrofoil_types::{Map, Value};
use smol_str::SmolStr;

static NULL: Value = Value::Null;

/// Fields of a struct value, absent ones as Go's zero value.
pub(crate) trait Read {
    /// A text field.
    fn s(&self, key: &str) -> &str;
    /// An integer field.
    fn i(&self, key: &str) -> i64;
    /// A pointer to an integer.
    fn oi(&self, key: &str) -> Option<i64>;
    /// A boolean field, or whether a pointer to a boolean points at true.
    fn b(&self, key: &str) -> bool;
    /// A list field.
    fn list(&self, key: &str) -> &[Value];
    /// A struct field; null when absent.
    fn sub(&self, key: &str) -> &Value;
    /// Whether a pointer field is set.
    fn has(&self, key: &str) -> bool;
    /// A pointer field, when set.
    fn opt(&self, key: &str) -> Option<&Value>;
    /// The entries of a map field.
    fn entries(&self, key: &str) -> std::slice::Iter<'_, (SmolStr, Value)>;
    /// Whether a field is absent or zero.
    fn zero(&self, key: &str) -> bool;
}

impl Read for Value {
    fn s(&self, key: &str) -> &str {
        self.get(key).and_then(Value::as_str).unwrap_or("")
    }

    fn i(&self, key: &str) -> i64 {
        self.oi(key).unwrap_or(0)
    }

    fn oi(&self, key: &str) -> Option<i64> {
        self.get(key).and_then(Value::as_int)
    }

    fn b(&self, key: &str) -> bool {
        self.get(key).and_then(Value::as_bool).unwrap_or(false)
    }

    fn list(&self, key: &str) -> &[Value] {
        self.get(key).and_then(Value::as_array).unwrap_or(&[])
    }

    fn sub(&self, key: &str) -> &Value {
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

/// Writing of struct fields; a value that is no object is left alone.
pub(crate) trait Write {
    /// Sets a field.
    fn put(&mut self, key: &str, value: impl Into<Value>);
    /// Sets a pointer field that is unset.
    fn unset(&mut self, key: &str, value: impl Into<Value>);
    /// Sets a plain field that is zero.
    fn fill(&mut self, key: &str, value: impl Into<Value>);
    /// Takes a field out.
    fn drop(&mut self, key: &str);
    /// Calls `f` for each item of a list field.
    fn each(&mut self, key: &str, f: impl FnMut(&mut Value));
    /// Calls `f` with a struct field that is set.
    fn within(&mut self, key: &str, f: impl FnOnce(&mut Value));
    /// A struct field, made where it is absent.
    fn make(&mut self, key: &str) -> &mut Value;
    /// Makes a field what it is in `old`, absent too.
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

/// Whether two loose values are Go-equal: a zero field equals an absent one.
///
/// `apiequality.Semantic.DeepEqual` also takes empty and nil lists and maps as
/// equal. Pointers to zero are told apart from nil only by explicit callers.
pub(crate) fn same(a: &Value, b: &Value) -> bool {
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

/// Zero all the way down: what an unset struct decodes to.
fn blank(value: &Value) -> bool {
    match value {
        Value::Object(m) => m.iter().all(|(_, v)| blank(v)),
        // A pointer to false or 0 differs from nil, but so rarely in a compared field that the
        // plain fields, which are the many, decide.
        other => other.is_zero(),
    }
}

/// Whether a field that is a map has the same keys with the same values in both.
pub(crate) fn same_map(a: &Value, b: &Value, key: &str) -> bool {
    let (a, b) = (a.sub(key), b.sub(key));
    a == b || (a.is_zero() && b.is_zero())
}

/// Whether a field is the same in both values.
pub(crate) fn same_field(a: &Value, b: &Value, key: &str) -> bool {
    same(a.sub(key), b.sub(key))
}
