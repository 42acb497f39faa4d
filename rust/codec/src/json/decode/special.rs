//! JSON of types whose form is not that of a struct.

#![allow(clippy::arithmetic_side_effects, reason = "places in a body and depths are bounded by its bytes")]
#![allow(clippy::indexing_slicing, reason = "the cursor never passes the end of the body")]
#![allow(clippy::string_slice, reason = "it is cut at characters of ASCII that were found there")]

use base64::Engine as _;
use base64::alphabet;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};
use hydrofoil_types::{Arena, Quantity, Shape, SmolStr, Special, Timestamp, TypeId, Value};

use super::Decoder;
use crate::DecodeError;

/// Accepts bits that the last character has beyond the last byte, as Go does.
const LENIENT: GeneralPurpose =
    GeneralPurpose::new(&alphabet::STANDARD, GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true));

/// Return base64 in canonical form, or Go's error.
pub(crate) fn bytes(text: &SmolStr) -> Result<SmolStr, String> {
    let clean: Option<String> =
        text.contains(['\r', '\n']).then(|| text.chars().filter(|c| !matches!(c, '\r' | '\n')).collect());
    let checked = clean.as_deref().unwrap_or(text);
    if STANDARD.decode(checked).is_ok() {
        return Ok(clean.map_or_else(|| text.clone(), SmolStr::from));
    }
    let problem = |at| format!("illegal base64 data at input byte {at}");
    match corrupt(text.as_bytes()) {
        Some(at) => Err(problem(at)),
        None => LENIENT.decode(checked).map(|bytes| SmolStr::from(STANDARD.encode(bytes))).map_err(|_| problem(0)),
    }
}

/// Return the place of the first error as Go counts it (`decodeQuantum` of `encoding/base64`).
fn corrupt(text: &[u8]) -> Option<usize> {
    let breaks = |at: usize| text[at..].iter().take_while(|b| matches!(b, b'\r' | b'\n')).count();
    let mut filled = 0;
    for (at, byte) in text.iter().enumerate() {
        match byte {
            b'\r' | b'\n' => {}
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'+' | b'/' => filled = (filled + 1) % 4,
            b'=' if filled >= 2 => {
                let mut next = at + 1;
                if filled == 2 {
                    next += breaks(next);
                    match text.get(next) {
                        None => return Some(text.len()),
                        Some(b'=') => next += 1,
                        Some(_) => return Some(next - 1),
                    }
                }
                next += breaks(next);
                return (next < text.len()).then_some(next);
            }
            _ => return Some(at),
        }
    }
    (filled > 0).then_some(text.len() - filled)
}

/// Return bytes as base64.
pub(super) fn base64(bytes: &[u8]) -> Value {
    Value::from(STANDARD.encode(bytes))
}

/// Return the value of null or an absent member for a special type that is not a pointer.
pub(super) fn zero(kind: Special) -> Value {
    match kind {
        Special::Quantity => Value::str("0"),
        Special::IntOrString => Value::Int(0),
        Special::Duration => Value::str("0s"),
        _ => Value::Null,
    }
}

/// Decode a special value; the cursor is on its first byte, which is not null.
pub(super) fn decode<'a>(
    d: &mut Decoder<'a>,
    arena: &'a Arena,
    kind: Special,
    shape: &Shape,
    depth: usize,
) -> Result<Value, DecodeError> {
    let first = d.lex.peek().unwrap_or(0);
    Ok(match (kind, first) {
        (Special::Json, _) => d.itself(|d| d.any(depth))?,
        (Special::Raw, _) => d.decode_as_given(depth)?,
        (Special::Fields, _) => d.canonical(depth)?,
        (Special::Quantity, b'"' | b'-' | b'0'..=b'9') => {
            let text = if first == b'"' { d.lex.string()? } else { SmolStr::new(d.lex.number()?.0) };
            match Quantity::canonical_text(text.trim()) {
                Ok(written) => Value::Str(written),
                Err(message) => d.abort(message.to_owned()),
            }
        }
        // Other values are read as a string of their text.
        (Special::Quantity, _) => {
            d.any(depth)?;
            d.abort(Quantity::FORM.to_owned())
        }
        (Special::Time | Special::MicroTime, b'"') => {
            let text = d.lex.string()?;
            let micro = kind == Special::MicroTime;
            if let Some(t) = Timestamp::parse(&text).filter(|_| !micro || six_decimals(&text)) {
                Value::from(if micro { t.rfc3339_micro() } else { t.rfc3339() })
            } else {
                d.abort(super::moment::problem(&text, micro))
            }
        }
        (Special::Duration | Special::IntOrString, b'"') => Value::Str(d.lex.string()?),
        (Special::IntOrString, b'-' | b'0'..=b'9') => d.value(&Shape::Int32, depth)?.unwrap_or_default(),
        // All but texts are read as numbers.
        (Special::IntOrString, _) => d.itself(|d| d.mismatch(&Shape::Int32, depth))?,
        (Special::SchemaOrArray | Special::SchemaOrBool | Special::SchemaOrStrings, b'{') => {
            d.itself(|d| Ok(d.value(&Shape::Type(props(arena)), depth)?.unwrap_or_default()))?
        }
        (Special::SchemaOrBool, b't' | b'f') => d.value(&Shape::Bool, depth)?.unwrap_or_default(),
        (Special::SchemaOrArray, b'[') => {
            let schemas = Shape::List(Box::new(Shape::Type(props(arena))));
            d.itself(|d| Ok(d.value(&schemas, depth)?.unwrap_or_default()))?
        }
        (Special::SchemaOrStrings, b'[') => {
            d.itself(|d| Ok(d.value(&Shape::List(Box::new(Shape::Str)), depth)?.unwrap_or_default()))?
        }
        // Upstream's decoder ignores anything else.
        (Special::SchemaOrArray | Special::SchemaOrStrings, _) => {
            d.any(depth)?;
            Value::Array(Vec::new())
        }
        (Special::SchemaOrBool, _) => d.itself(|d| {
            d.any(depth)?;
            Ok(d.refuse("boolean or JSON schema expected".to_owned()))
        })?,
        _ => d.itself(|d| d.mismatch(shape, depth))?,
    })
}

/// Return the type of a JSON schema, to which the three either-or types refer.
pub(crate) fn props(arena: &Arena) -> TypeId {
    arena
        .find("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps")
        .expect("the catalog has JSONSchemaProps where it has its either-or types")
}

fn six_decimals(text: &str) -> bool {
    text.as_bytes().get(19) == Some(&b'.') && text[20..].bytes().take_while(u8::is_ascii_digit).count() == 6
}

#[cfg(test)]
mod tests {
    use smol_str::SmolStr;

    use super::bytes;

    #[test]
    fn base64_is_read_as_go_does() {
        for (given, outcome) in [
            ("YWJj", Ok("YWJj")),
            ("YQ==", Ok("YQ==")),
            ("Y\nQ==\n", Ok("YQ==")),
            ("YR==", Ok("YQ==")),
            ("YQ=", Err(3)),
            ("YQ", Err(0)),
            ("YWJjYQ", Err(4)),
            ("YQ=x", Err(2)),
            ("YQ==x", Err(4)),
            ("=", Err(0)),
            ("Y===", Err(1)),
            ("${csr_person}", Err(0)),
            ("YWI=YWI=", Err(4)),
        ] {
            let outcome = outcome.map(SmolStr::new).map_err(|at| format!("illegal base64 data at input byte {at}"));
            assert_eq!(bytes(&SmolStr::new(given)), outcome, "{given}");
        }
    }
}
