//! The meaning of a scalar (go.yaml.in/yaml/v2 `resolve.go`): YAML 1.1, and the tags of its types.

#![allow(clippy::string_slice, reason = "it is cut at characters of ASCII that were found there")]

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hydrofoil_types::{SmolStr, Value};

use super::fault::yaml;
use super::plain::{is_time, word};
use crate::{DecodeError, json};

/// The value of a scalar.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Scalar {
    Null,
    Bool(bool),
    Int(i64),
    /// A number beyond the range of the others.
    Uint(u64),
    /// A number that may be infinite or NaN.
    Float(f64),
    Str(SmolStr),
}

const LONG: &str = "tag:yaml.org,2002:";

/// Return the meaning of a scalar; `implicit` if it is neither quoted nor tagged.
pub(super) fn scalar(tag: &str, text: &SmolStr, implicit: bool) -> Result<Scalar, DecodeError> {
    if tag.is_empty() {
        return Ok(if implicit { plain(text, true).1 } else { Scalar::Str(text.clone()) });
    }
    let wanted = match tag.strip_prefix(LONG) {
        Some("binary") => return binary(text),
        Some(short @ ("bool" | "int" | "float" | "null" | "timestamp")) => short,
        _ => return Ok(Scalar::Str(text.clone())),
    };
    let (found, value) = plain(text, wanted == "timestamp");
    match (wanted, found, value) {
        ("float", "int", Scalar::Int(n)) => Ok(Scalar::Float(n as f64)),
        (_, _, value) if wanted == found => Ok(value),
        _ => Err(yaml(&format!("cannot decode !!{found} `{text}` as a !!{wanted}"))),
    }
}

fn binary(text: &SmolStr) -> Result<Scalar, DecodeError> {
    let bytes = json::bytes(text).ok().and_then(|canonical| STANDARD.decode(canonical).ok());
    let bytes = bytes.ok_or_else(|| yaml("!!binary value contains invalid base64 data"))?;
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        // Go's encoder of JSON replaces byte by byte.
        out.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    Ok(Scalar::Str(out.into()))
}

/// Return the name of the type of a scalar without quotes, and its value; a time is a text.
fn plain(text: &SmolStr, timed: bool) -> (&'static str, Scalar) {
    let string = || ("str", Scalar::Str(text.clone()));
    let Some(first) = text.bytes().next() else { return ("null", Scalar::Null) };
    match first {
        b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' | b'~' => match word(text) {
            Some(Value::Bool(b)) => ("bool", Scalar::Bool(b)),
            Some(_) => ("null", Scalar::Null),
            None => string(),
        },
        b'+' | b'-' | b'.' | b'0'..=b'9' => {
            if let Some(special) = special(text) {
                return ("float", Scalar::Float(special));
            }
            if first == b'.' {
                return finite(text).map_or_else(string, |f| ("float", Scalar::Float(f)));
            }
            if timed && is_time(text) {
                return ("timestamp", Scalar::Str(text.clone()));
            }
            number(text).unwrap_or_else(string)
        }
        _ => string(),
    }
}

fn special(text: &str) -> Option<f64> {
    match text {
        ".nan" | ".NaN" | ".NAN" => Some(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => Some(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => Some(f64::NEG_INFINITY),
        _ => None,
    }
}

fn number(text: &str) -> Option<(&'static str, Scalar)> {
    let clean = if text.contains('_') { &text.replace('_', "") } else { text };
    if let Some(n) = integer(clean) {
        return Some(("int", n));
    }
    if let Some(f) = finite(clean) {
        return Some(("float", Scalar::Float(f)));
    }
    // Upstream takes a sign behind the prefix here, and here only.
    let odd = clean.strip_prefix("0b").and_then(|digits| i64::from_str_radix(digits, 2).ok());
    odd.map(|n| ("int", Scalar::Int(n)))
}

/// Read an integer of any base (Go's `ParseInt` and `ParseUint` with base 0).
fn integer(text: &str) -> Option<Scalar> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let (radix, digits) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &digits[2..]),
        [b'0', b'o' | b'O', ..] => (8, &digits[2..]),
        [b'0', b'b' | b'B', ..] => (2, &digits[2..]),
        [b'0', _, ..] => (8, &digits[1..]),
        _ => (10, digits),
    };
    if digits.starts_with(['+', '-']) {
        return None;
    }
    let size = u64::from_str_radix(digits, radix).ok()?;
    match (negative, i64::try_from(size)) {
        (false, Ok(n)) => Some(Scalar::Int(n)),
        (true, Ok(n)) => Some(Scalar::Int(n.wrapping_neg())),
        // An unsigned number has no sign.
        (false, Err(_)) => (!text.starts_with('+')).then_some(Scalar::Uint(size)),
        (true, Err(_)) => (size == 1 << 63).then_some(Scalar::Int(i64::MIN)),
    }
}

/// Read a number with digits before or behind a point, within the range of floats.
fn finite(text: &str) -> Option<f64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match digits.find(['e', 'E']) {
        Some(at) => (&digits[..at], Some(&digits[at..][1..])),
        None => (digits, None),
    };
    let numeric = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let some = !whole.is_empty() || !part.is_empty();
    let exponent = exponent.is_none_or(|text| {
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        !digits.is_empty() && numeric(digits)
    });
    if !(some && numeric(whole) && numeric(part) && exponent) {
        return None;
    }
    text.parse().ok().filter(|f: &f64| f.is_finite())
}

#[cfg(test)]
mod tests {
    use super::{Scalar, scalar};

    fn of(tag: &str, text: &str) -> Result<Scalar, String> {
        let tag = if tag.is_empty() { String::new() } else { format!("tag:yaml.org,2002:{tag}") };
        scalar(&tag, &text.into(), true).map_err(|why| why.to_string())
    }

    #[test]
    fn plain_scalars_mean_what_they_do_in_yaml_1_1() {
        for (text, wanted) in [
            ("~", Scalar::Null),
            ("yes", Scalar::Bool(true)),
            ("Off", Scalar::Bool(false)),
            ("0x1_F", Scalar::Int(31)),
            ("017", Scalar::Int(15)),
            ("08", Scalar::Float(8.0)),
            ("0b-101", Scalar::Int(-5)),
            ("-9223372036854775808", Scalar::Int(i64::MIN)),
            ("18446744073709551615", Scalar::Uint(u64::MAX)),
            ("-9223372036854775809", Scalar::Float(-9_223_372_036_854_775_808.0)),
            ("1.", Scalar::Float(1.0)),
            (".5e1", Scalar::Float(5.0)),
            ("1e309", Scalar::Str("1e309".into())),
            ("2001-01-01", Scalar::Str("2001-01-01".into())),
            ("+-1", Scalar::Str("+-1".into())),
            (".", Scalar::Str(".".into())),
        ] {
            assert_eq!(of("", text), Ok(wanted), "{text}");
        }
    }

    #[test]
    fn tags_are_followed() {
        assert_eq!(of("float", "3"), Ok(Scalar::Float(3.0)));
        assert_eq!(of("str", "3"), Ok(Scalar::Str("3".into())));
        assert_eq!(of("null", ""), Ok(Scalar::Null));
        assert_eq!(of("binary", "aGk="), Ok(Scalar::Str("hi".into())));
        assert_eq!(of("own", "3"), Ok(Scalar::Str("3".into())));
        let refused = "error converting YAML to JSON: yaml: cannot decode !!float `3.5` as a !!int";
        assert_eq!(of("int", "3.5"), Err(refused.to_owned()));
    }
}
