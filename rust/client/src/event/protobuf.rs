//! The protobuf of Kubernetes: an envelope around each object.

use super::{excerpt, number};
use crate::wrong::Wrong;

fn bad() -> Wrong {
    Wrong("malformed protobuf".to_owned())
}

pub(crate) fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 127) << shift;
        if byte < 128 {
            return Some(value);
        }
    }
    None
}

/// The first field of this number that has a length; a message that is cut off counts up to there.
pub(crate) fn field(bytes: &[u8], wanted: u64) -> Option<&[u8]> {
    next(bytes, wanted).map(|(found, _)| found)
}

/// The next field of this number, and the rest.
pub(super) fn next(mut bytes: &[u8], wanted: u64) -> Option<(&[u8], &[u8])> {
    while !bytes.is_empty() {
        let key = varint(&mut bytes)?;
        let skipped = match key & 7 {
            0 => {
                varint(&mut bytes)?;
                0
            }
            1 => 8,
            5 => 4,
            2 => {
                let size = usize::try_from(varint(&mut bytes)?).ok()?;
                if key >> 3 == wanted {
                    return Some(bytes.split_at(size.min(bytes.len())));
                }
                size
            }
            _ => return None,
        };
        bytes = bytes.get(skipped..)?;
    }
    None
}

/// The object inside of the envelope.
pub(super) fn object(bytes: &[u8]) -> Option<&[u8]> {
    field(bytes.strip_prefix(b"k8s\0")?, 2)
}

pub(super) fn version(bytes: &[u8]) -> Result<u64, Wrong> {
    let object = object(bytes).ok_or_else(bad)?;
    number(field(object, 1).and_then(|meta| field(meta, 6)).ok_or_else(bad)?)
}

/// Whether the object of an event has the time of its deletion.
pub(super) fn ending(frame: &[u8]) -> bool {
    let raw = field(frame, 2).and_then(|object| field(object, 1));
    raw.and_then(object).and_then(|object| field(object, 1)).and_then(|meta| field(meta, 9)).is_some()
}

/// The kind that an envelope names.
pub(super) fn kind(bytes: &[u8]) -> Option<&[u8]> {
    field(field(bytes.strip_prefix(b"k8s\0")?, 1)?, 2)
}

/// Type, resource version and object of an event.
pub(super) fn event(frame: &[u8]) -> Result<(&[u8], u64, &[u8]), Wrong> {
    let kind = field(frame, 1).ok_or_else(bad)?;
    let raw = field(frame, 2).and_then(|object| field(object, 1)).ok_or_else(bad)?;
    if kind == b"ERROR" {
        return Err(Wrong(format!("an event of type ERROR: {}", excerpt(raw))));
    }
    Ok((kind, version(raw)?, raw))
}
