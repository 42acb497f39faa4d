//! Values as the verbs of Go's `fmt` print untyped JSON.

use std::fmt::Write as _;

use crate::{Map, Value};
use hydrofoil_text::quoted;

/// Format a number as `%v` does: with an exponent from a million up and below a ten thousandth.
pub fn float(f: f64) -> String {
    let size = f.abs();
    if size == 0.0 || (1e-4..1e6).contains(&size) {
        return format!("{f}");
    }
    let text = format!("{f:e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, digits) = exponent.strip_prefix('-').map_or(('+', exponent), |d| ('-', d));
    format!("{mantissa}e{sign}{digits:0>2}")
}

/// Format a number as Go's JSON encoder does: plain between 1e-6 and 1e21, else with an exponent, which has two digits
/// if it is positive (`floatEncoder` of `encoding/json`).
pub fn json_float(f: f64) -> String {
    let size = f.abs();
    if size == 0.0 || (1e-6..1e21).contains(&size) {
        return format!("{f}");
    }
    let text = format!("{f:e}");
    if text.contains("e-") { text } else { text.replace('e', "e+") }
}

/// Return the text of a number that JSON cannot hold.
pub fn infinity(f: f64) -> &'static str {
    match f {
        f if f.is_nan() => "NaN",
        f if f > 0.0 => "+Inf",
        _ => "-Inf",
    }
}

/// Return the error of a number that JSON cannot hold, as Go's encoder words it.
pub fn unsupported_number(f: f64) -> String {
    format!("json: unsupported value: {}", infinity(f))
}

/// Return the type as `%T` names it.
pub fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Int(_) => "int64",
        Value::Float(_) => "float64",
        Value::Str(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) | Value::Raw(_) => "map[string]interface {}",
    }
}

/// Format a value as `%v` does: maps sorted by key.
pub fn plain(value: &Value) -> String {
    let mut out = String::new();
    PLAIN.value(&mut out, value);
    out
}

/// Format a list as `%v` does.
pub fn plain_list(items: &[Value]) -> String {
    let mut out = String::new();
    PLAIN.list(&mut out, items);
    out
}

/// Format a map as `%v` does.
pub fn plain_map(map: &Map) -> String {
    let mut out = String::new();
    PLAIN.map(&mut out, map);
    out
}

/// Format a value as `%#v` does: as a Go expression.
pub fn syntax(value: &Value) -> String {
    let mut out = String::new();
    let write = Writer {
        nil: "interface {}(nil)",
        text: |out, text| out.push_str(&quoted(text)),
        list: ("[]interface {}{", ", ", "}"),
        map: ("map[string]interface {}{", ", ", "}"),
    };
    write.value(&mut out, value);
    out
}

const PLAIN: Writer =
    Writer { nil: "<nil>", text: |out, text| out.push_str(text), list: ("[", " ", "]"), map: ("map[", " ", "]") };

/// The differences between the two verbs.
struct Writer {
    nil: &'static str,
    text: fn(&mut String, &str),
    /// The texts before, between and after the items.
    list: (&'static str, &'static str, &'static str),
    map: (&'static str, &'static str, &'static str),
}

impl Writer {
    fn value(&self, out: &mut String, value: &Value) {
        match value {
            Value::Null => out.push_str(self.nil),
            // Writing to a string cannot fail.
            Value::Bool(b) => drop(write!(out, "{b}")),
            Value::Int(n) => drop(write!(out, "{n}")),
            Value::Float(f) => out.push_str(&float(f.get())),
            Value::Str(s) | Value::Raw(s) => (self.text)(out, s),
            Value::Array(items) => self.list(out, items),
            Value::Object(map) => self.map(out, map),
        }
    }

    fn list(&self, out: &mut String, items: &[Value]) {
        let (before, between, after) = self.list;
        out.push_str(before);
        for (i, item) in items.iter().enumerate() {
            if i > 0 {
                out.push_str(between);
            }
            self.value(out, item);
        }
        out.push_str(after);
    }

    fn map(&self, out: &mut String, map: &Map) {
        let (before, between, after) = self.map;
        let mut members: Vec<_> = map.iter().collect();
        members.sort_by(|a, b| a.0.cmp(&b.0));
        out.push_str(before);
        for (i, (key, value)) in members.into_iter().enumerate() {
            if i > 0 {
                out.push_str(between);
            }
            (self.text)(out, key);
            out.push(':');
            self.value(out, value);
        }
        out.push_str(after);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation;

    #[test]
    fn numbers_in_json_are_those_of_go() {
        for (number, text) in [
            (1e-7, "1e-7"),
            (1.5e-10, "1.5e-10"),
            (1e-6, "0.000001"),
            (1e20, "100000000000000000000"),
            (1e21, "1e+21"),
            (-2.5e300, "-2.5e+300"),
            (-0.5, "-0.5"),
        ] {
            assert_eq!(json_float(number), text);
        }
    }

    #[test]
    fn verbs_print_as_go_does() {
        let value = notation::parse(r#"{"b":[1,"x\"",null,true],"a":{}}"#).expect("JSON");
        assert_eq!(plain(&value), "map[a:map[] b:[1 x\" <nil> true]]");
        assert_eq!(
            syntax(&value),
            r#"map[string]interface {}{"a":map[string]interface {}{}, "b":[]interface {}{1, "x\"", interface {}(nil), true}}"#
        );
        for (number, text) in [(1.5, "1.5"), (1e21, "1e+21"), (1e6, "1e+06"), (0.00001, "1e-05"), (-0.5, "-0.5")] {
            assert_eq!(plain(&Value::float(number).expect("finite")), text);
        }
    }
}
