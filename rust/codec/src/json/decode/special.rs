//! JSON of types whose form is not that of a struct.

#![allow(clippy::arithmetic_side_effects, reason = "places in a body and depths are bounded by its bytes")]
#![allow(clippy::indexing_slicing, reason = "the cursor never passes the end of the body")]
#![allow(clippy::string_slice, reason = "it is cut at characters of ASCII that were found there")]

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hydrofoil_types::{Arena, Quantity, Shape, SmolStr, Special, Timestamp, TypeId, Value};

use super::Decoder;
use crate::DecodeError;

/// Return base64 in canonical form, or Go's error.
pub(crate) fn bytes(text: &SmolStr) -> Result<SmolStr, String> {
    let clean: Option<String> =
        text.contains(['\r', '\n']).then(|| text.chars().filter(|c| !matches!(c, '\r' | '\n')).collect());
    let checked = clean.as_deref().unwrap_or(text);
    match STANDARD.decode(checked) {
        Ok(_) => Ok(clean.map_or_else(|| text.clone(), SmolStr::from)),
        Err(e) => {
            let at = match e {
                base64::DecodeError::InvalidByte(at, _) | base64::DecodeError::InvalidLastSymbol(at, _) => at,
                // An incomplete group of four is reported at its beginning, unless there is an error before it.
                _ => match STANDARD.decode(&checked.as_bytes()[..checked.len() / 4 * 4]) {
                    Err(base64::DecodeError::InvalidByte(at, _)) => at,
                    _ => checked.len() / 4 * 4,
                },
            };
            Err(format!("illegal base64 data at input byte {at}"))
        }
    }
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
        (Special::Json, _) => d.any(depth)?,
        (Special::Raw, _) => d.given(depth)?,
        (Special::Fields, _) => d.canonical(depth)?,
        (Special::Quantity, b'"' | b'-' | b'0'..=b'9') => {
            let text = if first == b'"' { d.lex.string()? } else { SmolStr::new(d.lex.number()?.0) };
            match Quantity::parse(text.trim()) {
                Ok(q) => Value::from(q.to_string()),
                Err(message) => d.refuse(message.to_owned()),
            }
        }
        // Other values are read as a string of their text.
        (Special::Quantity, _) => {
            d.any(depth)?;
            d.refuse(Quantity::FORM.to_owned())
        }
        (Special::Time | Special::MicroTime, b'"') => {
            let text = d.lex.string()?;
            let micro = kind == Special::MicroTime;
            if let Some(t) = Timestamp::parse(&text).filter(|_| !micro || six_decimals(&text)) {
                Value::from(if micro { t.rfc3339_micro() } else { t.rfc3339() })
            } else {
                d.refuse(super::moment::problem(&text, micro))
            }
        }
        (Special::Duration | Special::IntOrString, b'"') => Value::Str(d.lex.string()?),
        (Special::IntOrString, b'-' | b'0'..=b'9') => d.value(&Shape::Int32, depth)?.unwrap_or_default(),
        (Special::SchemaOrArray | Special::SchemaOrBool | Special::SchemaOrStrings, b'{') => {
            d.value(&Shape::Type(props(arena)), depth)?.unwrap_or_default()
        }
        (Special::SchemaOrBool, b't' | b'f') => d.value(&Shape::Bool, depth)?.unwrap_or_default(),
        (Special::SchemaOrArray, b'[') => {
            d.value(&Shape::List(Box::new(Shape::Type(props(arena)))), depth)?.unwrap_or_default()
        }
        (Special::SchemaOrStrings, b'[') => d.value(&Shape::List(Box::new(Shape::Str)), depth)?.unwrap_or_default(),
        // Upstream's decoder ignores anything else.
        (Special::SchemaOrArray | Special::SchemaOrStrings, _) => {
            d.any(depth)?;
            Value::Array(Vec::new())
        }
        (Special::SchemaOrBool, _) => {
            d.any(depth)?;
            d.refuse("boolean or JSON schema expected".to_owned())
        }
        _ => d.mismatch(shape, depth)?,
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
