//! Decode CBOR to JSON text. The work is bounded by the bytes present, whatever lengths they claim; nesting uses no
//! stack.

#![allow(clippy::arithmetic_side_effects, reason = "places in a body and depths are bounded by its bytes")]
#![allow(clippy::indexing_slicing, reason = "the cursor never passes the end of the body")]

use std::collections::HashSet;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use hydrofoil_types::{Arena, Field, Schema, Shape, SmolStr, Timestamp, TypeDef, Value};

use super::malformed;
use crate::{DecodeError, json};

/// The maximum depth, as in upstream's decoder.
const MAX_DEPTH: usize = 10_000;

/// A container that is being read.
struct Frame<'a> {
    map: bool,
    /// The number of remaining items; `None` if the length is indefinite.
    left: Option<u64>,
    /// The number of values so far.
    count: usize,
    /// The keys so far, which the client chooses: the hash has a secret.
    keys: HashSet<SmolStr>,
    /// Whether a key was read and its value is next.
    keyed: bool,
    /// The container's shape, if its type is known.
    shape: Option<&'a Shape>,
    /// The shape of the next item.
    next: Option<&'a Shape>,
    /// The field whose value is next, and its type.
    field: Option<(&'a TypeDef, &'a Field)>,
}

/// The encoding that a tag requests of the byte strings in it.
#[derive(Clone, Copy, PartialEq)]
enum Later {
    Text,
    Base64,
    Base64Url,
    Base16,
    Time,
}

/// Return an item of CBOR as JSON text; null as an empty object, as when decoded into a struct.
pub fn to_json(data: &[u8]) -> Result<Vec<u8>, DecodeError> {
    transcode(data, None)
}

/// Return the same for an object of a known type: fields of bytes require byte strings, which hold base64 unless a tag
/// marks them as raw (`applyByteStringTextConversion` of fxamacker/cbor).
pub fn typed_to_json(schema: &Schema, data: &[u8]) -> Result<Vec<u8>, DecodeError> {
    let root = Shape::Type(schema.root);
    transcode(data, Some((&schema.arena, &root)))
}

fn transcode(data: &[u8], typed: Option<(&Arena, &Shape)>) -> Result<Vec<u8>, DecodeError> {
    let mut reader = Reader { data, at: 0, out: Vec::with_capacity(data.len() * 2), stack: Vec::new(), typed };
    reader.run()?;
    if reader.out == b"null" {
        return Ok(b"{}".to_vec());
    }
    Ok(reader.out)
}

/// Return upstream's strict error for the first unknown field: its index among the members of its object.
pub fn unknown_field(value: &Value, path: &str) -> String {
    let (parent, name) = path.rsplit_once('.').unwrap_or(("", path));
    let parent = parent.split('.').filter(|part| !part.is_empty()).try_fold(value, |value, part| {
        let (name, index) = part.split_once('[').map_or((part, None), |(name, rest)| (name, Some(rest)));
        let value = value.get(name)?;
        match index {
            Some(rest) => value.as_array()?.get(rest.trim_end_matches(']').parse::<usize>().ok()?),
            None => Some(value),
        }
    });
    let place = parent.and_then(Value::as_object).and_then(|o| o.iter().position(|(key, _)| key == name));
    format!("cbor: found unknown field at map element index {}", place.unwrap_or_default())
}

struct Reader<'a> {
    data: &'a [u8],
    at: usize,
    out: Vec<u8>,
    stack: Vec<Frame<'a>>,
    typed: Option<(&'a Arena, &'a Shape)>,
}

impl<'a> Reader<'a> {
    fn run(&mut self) -> Result<(), DecodeError> {
        loop {
            self.item()?;
            loop {
                let Some(frame) = self.stack.last() else {
                    if self.at < self.data.len() {
                        return Err(malformed(&format!("{} bytes of extraneous data", self.data.len() - self.at)));
                    }
                    return Ok(());
                };
                let ended = match frame.left {
                    Some(left) => left == 0,
                    None => !frame.keyed && self.data.get(self.at) == Some(&0xff),
                };
                if !ended || frame.keyed {
                    break;
                }
                self.at += usize::from(frame.left.is_none());
                self.out.push(if frame.map { b'}' } else { b']' });
                self.stack.pop();
            }
        }
    }

    /// Convert one item, or the beginning of a container.
    fn item(&mut self) -> Result<(), DecodeError> {
        let is_key = self.stack.last().is_some_and(|f| f.map && !f.keyed);
        if let Some(frame) = self.stack.last_mut() {
            if frame.keyed {
                frame.keyed = false;
            } else if frame.count > 0 {
                self.out.push(b',');
            }
            if !is_key || !frame.map {
                frame.left = frame.left.map(|left| left - 1);
                frame.count += 1;
            }
        }
        let mut later = Later::Text;
        loop {
            let (major, info) = self.initial()?;
            if is_key && major != 2 && major != 3 {
                return Err(malformed("map keys must be strings"));
            }
            match major {
                6 => later = self.tag(info, later)?,
                _ if later == Later::Time && major != 3 && major != 2 => return self.epoch(major, info),
                2 | 3 if is_key => {
                    let text = self.string(major, info, later)?;
                    return self.key(&text);
                }
                2 | 3 => {
                    if matches!(self.next_shape(), Some(Shape::Bytes)) {
                        if major == 3 {
                            return Err(self.no_bytes());
                        }
                        if matches!(later, Later::Base64Url | Later::Base16) {
                            later = Later::Base64;
                        }
                    }
                    let text = self.string(major, info, later)?;
                    return self.text(&text, later);
                }
                4 | 5 => return self.open(major == 5, info),
                0 => {
                    let n = i64::try_from(self.argument(info)?).map_err(|_| malformed("integer overflows int64"))?;
                    self.out.extend_from_slice(n.to_string().as_bytes());
                    return Ok(());
                }
                1 => {
                    let n = i64::try_from(self.argument(info)?).map_err(|_| malformed("integer overflows int64"))?;
                    self.out.extend_from_slice((-1 - n).to_string().as_bytes());
                    return Ok(());
                }
                _ => return self.simple(info),
            }
        }
    }

    /// Return the shape of the next value.
    fn next_shape(&self) -> Option<&'a Shape> {
        self.stack.last().map_or_else(|| self.typed.map(|(_, root)| root), |frame| frame.next)
    }

    /// Return the error for a text in place of bytes, with the message of fxamacker/cbor.
    fn no_bytes(&self) -> DecodeError {
        // Each enclosing struct replaces the field by its own, so the outermost one is reported.
        let owner = self.stack.iter().find_map(|frame| frame.field);
        let place = owner.map_or_else(
            || "value".to_owned(),
            |(def, field)| {
                let package = def.name.rsplit('.').nth(1).unwrap_or_default();
                format!("struct field {package}.{}.{}", def.go_name(), field.name)
            },
        );
        DecodeError::Type(format!("cbor: cannot unmarshal UTF-8 text string into Go {place} of type []uint8"))
    }

    fn key(&mut self, text: &str) -> Result<(), DecodeError> {
        json::write_string(&mut self.out, text);
        self.out.push(b':');
        let frame = self.stack.last_mut().expect("a key stands in a map");
        if !frame.keys.insert(SmolStr::new(text)) {
            return Err(malformed(&format!("found duplicate map key {text:?} at map element index {}", frame.count)));
        }
        frame.keyed = true;
        if let (Some(Shape::Type(id)), Some((arena, _))) = (frame.shape, self.typed) {
            let def = arena.get(*id);
            frame.field = def.field(text, frame.count).map(|(_, field)| (def, field));
            frame.next = frame.field.map(|(_, field)| &field.shape);
        }
        Ok(())
    }

    fn text(&mut self, text: &str, later: Later) -> Result<(), DecodeError> {
        if later == Later::Time && Timestamp::parse(text).is_none() {
            return Err(malformed("cannot set a time from a text that is none"));
        }
        json::write_string(&mut self.out, text);
        Ok(())
    }

    fn open(&mut self, map: bool, info: u8) -> Result<(), DecodeError> {
        let left = if info == 31 { None } else { Some(self.argument(info)?) };
        // An item takes at least one byte, a member two.
        let least = left.map_or(0, |n| if map { n.saturating_mul(2) } else { n });
        if least > (self.data.len() - self.at) as u64 {
            return Err(malformed("unexpected EOF"));
        }
        if self.stack.len() >= MAX_DEPTH {
            return Err(malformed(&format!("exceeded max nested level {MAX_DEPTH}")));
        }
        self.out.push(if map { b'{' } else { b'[' });
        let shape = self.next_shape();
        let next = match shape {
            Some(Shape::List(item)) if !map => Some(&**item),
            Some(Shape::Map(value)) if map => Some(&**value),
            _ => None,
        };
        let keys = HashSet::default();
        self.stack.push(Frame { map, left, count: 0, keys, keyed: false, shape, next, field: None });
        Ok(())
    }

    fn tag(&mut self, info: u8, before: Later) -> Result<Later, DecodeError> {
        Ok(match self.argument(info)? {
            0 | 1 => Later::Time,
            2 | 3 => return Err(malformed("big numbers have no place in JSON")),
            21 => Later::Base64Url,
            22 => Later::Base64,
            23 => Later::Base16,
            _ => before,
        })
    }

    /// Convert seconds since 1970 to a time.
    fn epoch(&mut self, major: u8, info: u8) -> Result<(), DecodeError> {
        let seconds = match major {
            0 => i64::try_from(self.argument(info)?).ok(),
            1 => i64::try_from(self.argument(info)?).ok().map(|n| -1 - n),
            7 => Some(self.float(info)?.floor() as i64),
            _ => None,
        };
        let seconds = seconds.ok_or_else(|| malformed("a time is a text or a number"))?;
        let time = Timestamp { seconds, nanos: 0 };
        json::write_string(&mut self.out, &time.rfc3339());
        Ok(())
    }

    fn simple(&mut self, info: u8) -> Result<(), DecodeError> {
        match info {
            20 => self.out.extend_from_slice(b"false"),
            21 => self.out.extend_from_slice(b"true"),
            22 => self.out.extend_from_slice(b"null"),
            25..=27 => {
                let n = self.float(info)?;
                let n = Value::float(n).ok_or_else(|| {
                    let what = if n.is_nan() { "NaN" } else { "infinity" };
                    malformed(&format!(
                        "data item of cbor type primitives is not accepted by protocol: floating-point {what}"
                    ))
                })?;
                let text = json::encode_any(&n);
                self.out.extend_from_slice(&text);
                // It stays a number with a fraction, so that integer fields reject it.
                if !text.iter().any(|b| matches!(b, b'.' | b'e')) {
                    self.out.extend_from_slice(b".0");
                }
            }
            31 => return Err(malformed("unexpected \"break\" code")),
            _ => return Err(malformed("simple value is not recognized")),
        }
        Ok(())
    }

    fn float(&mut self, info: u8) -> Result<f64, DecodeError> {
        Ok(match info {
            25 => half(u16::from_be_bytes(self.array()?)),
            26 => f64::from(f32::from_be_bytes(self.array()?)),
            27 => f64::from_be_bytes(self.array()?),
            _ => return Err(malformed("a time is a text or a number")),
        })
    }

    /// Return a text, or bytes in the encoding that a tag requests; whole or in chunks.
    fn string(&mut self, major: u8, info: u8, later: Later) -> Result<String, DecodeError> {
        let mut whole = Vec::new();
        if info == 31 {
            loop {
                if self.data.get(self.at) == Some(&0xff) {
                    self.at += 1;
                    break;
                }
                let (chunk, info) = self.initial()?;
                if chunk != major || info == 31 {
                    return Err(malformed("wrong chunk in an indefinite-length string"));
                }
                let piece = self.bytes(info)?;
                if major == 3 && std::str::from_utf8(piece).is_err() {
                    return Err(malformed("invalid UTF-8 string"));
                }
                whole.extend_from_slice(piece);
            }
        } else {
            whole.extend_from_slice(self.bytes(info)?);
        }
        if major == 3 {
            return String::from_utf8(whole).map_err(|_| malformed("invalid UTF-8 string"));
        }
        Ok(match later {
            Later::Base64 => STANDARD.encode(&whole),
            Later::Base64Url => URL_SAFE_NO_PAD.encode(&whole),
            Later::Base16 => {
                let digit = |n: u8| char::from_digit(u32::from(n), 16).unwrap_or('0');
                whole.iter().flat_map(|b| [digit(b >> 4), digit(b & 15)]).collect()
            }
            Later::Text | Later::Time => String::from_utf8_lossy(&whole).into_owned(),
        })
    }

    fn bytes(&mut self, info: u8) -> Result<&'a [u8], DecodeError> {
        let len = usize::try_from(self.argument(info)?).unwrap_or(usize::MAX);
        let rest = &self.data[self.at..];
        let piece = rest.get(..len).ok_or_else(|| malformed("unexpected EOF"))?;
        self.at += len;
        Ok(piece)
    }

    fn initial(&mut self) -> Result<(u8, u8), DecodeError> {
        let byte = *self.data.get(self.at).ok_or_else(|| malformed("unexpected EOF"))?;
        self.at += 1;
        Ok((byte >> 5, byte & 31))
    }

    fn argument(&mut self, info: u8) -> Result<u64, DecodeError> {
        Ok(match info {
            0..=23 => u64::from(info),
            24 => u64::from(u8::from_be_bytes(self.array()?)),
            25 => u64::from(u16::from_be_bytes(self.array()?)),
            26 => u64::from(u32::from_be_bytes(self.array()?)),
            27 => u64::from_be_bytes(self.array()?),
            _ => return Err(malformed("invalid additional information")),
        })
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let piece = self.data[self.at..].first_chunk::<N>().ok_or_else(|| malformed("unexpected EOF"))?;
        self.at += N;
        Ok(*piece)
    }
}

/// Convert a 16-bit float.
fn half(bits: u16) -> f64 {
    let (exponent, mantissa) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    let size = match exponent {
        0 => mantissa * 2f64.powi(-24),
        31 if mantissa == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (mantissa + 1024.0) * 2f64.powi(exponent - 25),
    };
    if bits >> 15 == 1 { -size } else { size }
}
