//! CBOR: sizes of items, and texts behind names.

use memchr::memmem;

use super::{number, shown};
use crate::wrong::Wrong;

const DEPTH: usize = 64;

fn bad() -> Wrong {
    Wrong("malformed CBOR".to_owned())
}

/// The head of an item: major type, its number unless the length is indefinite, and the size of the head.
fn head(bytes: &[u8]) -> Result<Option<(u8, Option<u64>, usize)>, Wrong> {
    let Some(&first) = bytes.first() else { return Ok(None) };
    let (major, info) = (first >> 5, first & 31);
    match info {
        0..24 => Ok(Some((major, Some(u64::from(info)), 1))),
        24..28 => {
            let size = 1 << (info - 24);
            let Some(digits) = bytes.get(1..1 + size) else { return Ok(None) };
            let n = digits.iter().fold(0_u64, |n, &d| n << 8 | u64::from(d));
            Ok(Some((major, Some(n), 1 + size)))
        }
        31 if (2..=5).contains(&major) => Ok(Some((major, None, 1))),
        _ => Err(bad()),
    }
}

/// The size of an item, if all of it is there.
fn item(bytes: &[u8], depth: usize) -> Result<Option<usize>, Wrong> {
    if depth > DEPTH {
        return Err(bad());
    }
    let Some((major, n, mut at)) = head(bytes)? else { return Ok(None) };
    let mut left = match (major, n) {
        (0 | 1 | 7, _) => return Ok(Some(at)),
        (2 | 3, Some(n)) => {
            let end = usize::try_from(n).ok().and_then(|n| n.checked_add(at)).ok_or_else(bad)?;
            return Ok((bytes.len() >= end).then_some(end));
        }
        (4, Some(n)) => n,
        (5, Some(n)) => n.checked_mul(2).ok_or_else(bad)?,
        (6, _) => 1,
        (_, None) => u64::MAX,
        _ => return Err(bad()),
    };
    while left > 0 {
        if n.is_none() && bytes.get(at) == Some(&0xff) {
            return Ok(Some(at + 1));
        }
        match item(&bytes[at..], depth + 1)? {
            Some(size) => at += size,
            None => return Ok(None),
        }
        left -= 1;
    }
    Ok(Some(at))
}

/// The size of the item that these bytes begin with.
pub(super) fn length(bytes: &[u8]) -> Result<Option<usize>, Wrong> {
    if bytes.is_empty() { Ok(None) } else { item(bytes, 0) }
}

/// The content of a text or byte string.
fn text(bytes: &[u8]) -> Option<&[u8]> {
    let (major, n, at) = head(bytes).ok()??;
    matches!(major, 2 | 3).then_some(())?;
    bytes.get(at..)?.get(..usize::try_from(n?).ok()?)
}

/// The text behind a name, wherever it is.
pub(super) fn text_after<'a>(bytes: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let mut rest = bytes;
    loop {
        let at = memmem::find(rest, name.as_bytes())?;
        let before = at.checked_sub(1).map(|i| rest[i] & 31);
        rest = &rest[at + name.len()..];
        let found = text(rest).filter(|_| before == Some(name.len() as u8));
        if found.is_some() {
            return found;
        }
    }
}

pub(super) fn version(bytes: &[u8]) -> Result<u64, Wrong> {
    number(text_after(bytes, "resourceVersion").ok_or_else(bad)?)
}

/// Type, resource version and object of an event.
pub(super) fn event(raw: &[u8]) -> Result<(&[u8], u64, &[u8]), Wrong> {
    let mut at = 0;
    while raw.get(at).is_some_and(|byte| byte >> 5 == 6) {
        at += head(&raw[at..])?.ok_or_else(bad)?.2;
    }
    let (major, members, size) = head(&raw[at..])?.ok_or_else(bad)?;
    if major != 5 {
        return Err(bad());
    }
    at += size;
    let (mut kind, mut object) = (None, None);
    for _ in 0..members.unwrap_or(2) {
        let name = text(&raw[at..]).ok_or_else(bad)?;
        at += item(&raw[at..], 0)?.ok_or_else(bad)?;
        let end = at + item(&raw[at..], 0)?.ok_or_else(bad)?;
        match name {
            b"type" => kind = text(&raw[at..end]),
            b"object" => object = Some(&raw[at..end]),
            _ => {}
        }
        at = end;
    }
    let (kind, object) = (kind.ok_or_else(bad)?, object.ok_or_else(bad)?);
    if kind == b"ERROR" {
        return Err(Wrong(format!("an event of type ERROR: {}", shown(object))));
    }
    Ok((kind, version(object)?, object))
}
