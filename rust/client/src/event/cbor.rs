//! CBOR: sizes of items, and texts behind names.

use serde_json::Value;

use super::{excerpt, number};
use crate::wrong::Wrong;

const DEPTH: usize = 64;
/// The major types of arrays and maps.
pub(crate) const ARRAY: u8 = 4;
pub(crate) const MAP: u8 = 5;

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
pub(crate) fn length(bytes: &[u8]) -> Result<Option<usize>, Wrong> {
    if bytes.is_empty() { Ok(None) } else { item(bytes, 0) }
}

/// The content of a text or byte string.
pub(crate) fn text(bytes: &[u8]) -> Option<&[u8]> {
    let (major, n, at) = head(bytes).ok()??;
    matches!(major, 2 | 3).then_some(())?;
    bytes.get(at..)?.get(..usize::try_from(n?).ok()?)
}

/// The bytes without the tags that they begin with.
pub(crate) fn strip_tags(mut bytes: &[u8]) -> Option<&[u8]> {
    while bytes.first().is_some_and(|byte| byte >> 5 == 6) {
        let (_, _, size) = head(bytes).ok()??;
        bytes = &bytes[size..];
    }
    Some(bytes)
}

/// The number of items of the array or map that these bytes begin with, if it has one, and the size of its head.
pub(crate) fn read_head(bytes: &[u8], major: u8) -> Option<(Option<u64>, usize)> {
    let content = strip_tags(bytes)?;
    let (found, items, size) = head(content).ok()??;
    (found == major).then(|| (items, bytes.len() - content.len() + size))
}

/// The value of a member of a map.
pub(super) fn get<'a>(map: &'a [u8], wanted: &str) -> Option<&'a [u8]> {
    let (members, mut at) = read_head(map, MAP)?;
    for _ in 0..members.unwrap_or(u64::MAX) {
        let name = text(&map[at..])?;
        at += length(&map[at..]).ok()??;
        let end = at + length(map.get(at..)?).ok()??;
        if name == wanted.as_bytes() {
            return Some(&map[at..end]);
        }
        at = end;
    }
    None
}

/// The first item of an array.
pub(super) fn first(array: &[u8]) -> Option<&[u8]> {
    let (_, at) = read_head(array, ARRAY)?;
    let rest = &array[at..];
    rest.get(..length(rest).ok()??)
}

/// An item as JSON, and its size.
pub(super) fn value(bytes: &[u8]) -> Option<(Value, usize)> {
    let content = strip_tags(bytes)?;
    let (major, n, size) = head(content).ok()??;
    let mut at = bytes.len() - content.len() + size;
    let ended = |at: usize, done: u64| n.map_or(bytes.get(at) == Some(&0xff), |n| done == n);
    let found = match (major, n) {
        (0, Some(n)) => Value::from(n),
        (1, Some(n)) => Value::from(-1_i64 - i64::try_from(n).ok()?),
        (2 | 3, _) => {
            let found = text(content)?;
            at += found.len();
            Value::from(String::from_utf8_lossy(found))
        }
        (ARRAY, _) => {
            let mut items = Vec::new();
            while !ended(at, items.len() as u64) {
                let (item, size) = value(bytes.get(at..)?)?;
                items.push(item);
                at += size;
            }
            at += usize::from(n.is_none());
            Value::Array(items)
        }
        (MAP, _) => {
            let (mut members, mut done) = (serde_json::Map::new(), 0);
            while !ended(at, done) {
                let (name, size) = value(bytes.get(at..)?)?;
                at += size;
                let (member, size) = value(bytes.get(at..)?)?;
                at += size;
                done += 1;
                members.insert(name.as_str()?.to_owned(), member);
            }
            at += usize::from(n.is_none());
            Value::Object(members)
        }
        (7, Some(20 | 21)) => Value::Bool(n == Some(21)),
        (7, Some(22)) => Value::Null,
        (7, Some(bits)) if size == 9 => Value::from(f64::from_bits(bits)),
        _ => return None,
    };
    Some((found, at))
}

pub(super) fn version(bytes: &[u8]) -> Result<u64, Wrong> {
    let found = get(bytes, "metadata").and_then(|meta| get(meta, "resourceVersion")).and_then(text);
    number(found.ok_or_else(bad)?)
}

/// Type, resource version and object of an event.
pub(super) fn event(raw: &[u8]) -> Result<(&[u8], u64, &[u8]), Wrong> {
    let kind = get(raw, "type").and_then(text).ok_or_else(bad)?;
    let object = get(raw, "object").ok_or_else(bad)?;
    if kind == b"ERROR" {
        return Err(Wrong(format!("an event of type ERROR: {}", excerpt(object))));
    }
    Ok((kind, version(object)?, object))
}
