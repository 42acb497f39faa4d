//! Encode values as CBOR: strings and names as byte strings, bytes with the tag of their later base64, numbers in their
//! shortest form.

#![allow(clippy::arithmetic_side_effects, reason = "exponents are those of floating-point numbers")]

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hydrofoil_types::{Arena, Schema, Shape, TypeDef, Value};

use super::SELF_DESCRIBED;
use crate::json;

/// Append an object by its schema, in canonical form, or any value if there is none.
pub fn encode(schema: Option<&Schema>, value: &Value, out: &mut Vec<u8>) {
    match schema {
        Some(schema) => write(Some((&schema.arena, &Shape::Type(schema.root))), value, out),
        None => write(None, value, out),
    }
}

/// Return a whole document: the same after the self-described tag.
pub fn encode_tagged(schema: Option<&Schema>, value: &Value) -> Vec<u8> {
    let mut out = SELF_DESCRIBED.to_vec();
    encode(schema, value, &mut out);
    out
}

/// Append a watch event around a whole document.
pub fn event(kind: &str, object: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&SELF_DESCRIBED);
    map_head(2, out);
    text("type", out);
    text(kind, out);
    text("object", out);
    out.extend_from_slice(object);
}

/// Append the head of an array of the given number of items.
pub fn array_head(count: u64, out: &mut Vec<u8>) {
    head(4, count, out);
}

/// Append the head of a map of the given number of members.
pub fn map_head(count: u64, out: &mut Vec<u8>) {
    head(5, count, out);
}

fn head(major: u8, n: u64, out: &mut Vec<u8>) {
    let major = major << 5;
    match n {
        0..=23 => out.push(major + n as u8),
        24..=0xff => out.extend_from_slice(&[major + 24, n as u8]),
        0x100..=0xffff => {
            out.push(major + 25);
            out.extend_from_slice(&(n as u16).to_be_bytes());
        }
        0x1_0000..=0xffff_ffff => {
            out.push(major + 26);
            out.extend_from_slice(&(n as u32).to_be_bytes());
        }
        _ => {
            out.push(major + 27);
            out.extend_from_slice(&n.to_be_bytes());
        }
    }
}

/// Append a string, as a byte string like upstream.
pub(super) fn text(text: &str, out: &mut Vec<u8>) {
    head(2, text.len() as u64, out);
    out.extend_from_slice(text.as_bytes());
}

fn write(known: Option<(&Arena, &Shape)>, value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.push(0xf6),
        Value::Bool(flag) => out.push(0xf4 + u8::from(*flag)),
        Value::Int(n) if *n >= 0 => head(0, *n as u64, out),
        Value::Int(n) => head(1, !*n as u64, out),
        Value::Float(n) => float(n.get(), out),
        Value::Str(s) => match known {
            Some((_, Shape::Bytes)) => match STANDARD.decode(s.as_bytes()) {
                Ok(bytes) => {
                    out.push(0xd6);
                    head(2, bytes.len() as u64, out);
                    out.extend_from_slice(&bytes);
                }
                Err(_) => text(s, out),
            },
            _ => text(s, out),
        },
        Value::Raw(text) => write(None, &json::parse_raw(text), out),
        Value::Array(items) => {
            array_head(items.len() as u64, out);
            let of = match known {
                Some((arena, Shape::List(of))) => Some((arena, &**of)),
                _ => None,
            };
            for item in items {
                write(of, item, out);
            }
        }
        Value::Object(members) => {
            map_head(members.len() as u64, out);
            let mut hint = 0;
            for (name, member) in members {
                text(name, out);
                let of = known.and_then(|(arena, shape)| Some((arena, member_shape(arena, shape, name, &mut hint)?)));
                write(of, member, out);
            }
        }
    }
}

fn member_shape<'a>(arena: &'a Arena, shape: &'a Shape, name: &str, hint: &mut usize) -> Option<&'a Shape> {
    match shape {
        Shape::Map(of) => Some(of),
        Shape::Type(id) => {
            let def: &TypeDef = arena.get(*id);
            let (at, field) = def.field(name, *hint)?;
            *hint = at + 1;
            Some(&field.shape)
        }
        _ => None,
    }
}

/// Append a number in the shortest lossless form.
fn float(n: f64, out: &mut Vec<u8>) {
    if let Some(bits) = to_half(n) {
        out.push(0xf9);
        out.extend_from_slice(&bits.to_be_bytes());
    } else if f64::from(n as f32).to_bits() == n.to_bits() {
        out.push(0xfa);
        out.extend_from_slice(&(n as f32).to_be_bytes());
    } else {
        out.push(0xfb);
        out.extend_from_slice(&n.to_be_bytes());
    }
}

/// Return the 16-bit form of a number that fits.
fn to_half(n: f64) -> Option<u16> {
    let bits = n.to_bits();
    let sign = (bits >> 48) as u16 & 0x8000;
    let (exponent, mantissa) = ((bits >> 52 & 0x7ff) as i32 - 1023, bits & ((1 << 52) - 1));
    if n == 0.0 {
        return Some(sign);
    }
    match exponent {
        -14..=15 if mantissa & ((1 << 42) - 1) == 0 => {
            Some(sign | ((exponent + 15) as u16) << 10 | (mantissa >> 42) as u16)
        }
        -24..=-15 => {
            // Subnormal: the implicit leading one becomes a digit of the fraction.
            let whole = mantissa | 1 << 52;
            let shift = 28 - exponent;
            (whole & ((1u64 << shift) - 1) == 0).then(|| sign | (whole >> shift) as u16)
        }
        _ => None,
    }
}
