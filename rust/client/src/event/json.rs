//! JSON, compact or with white space.

use memchr::{memchr2, memmem};

use super::{excerpt, number};
use crate::wrong::Wrong;

/// The size of the rest of a string behind its first quote, the last quote included.
fn string_end(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
    }
}

/// The size of the value that these bytes begin with, if all of it is there.
pub(crate) fn size(bytes: &[u8]) -> Option<usize> {
    match bytes.first()? {
        b'"' => string_end(&bytes[1..]).map(|size| size + 1),
        b'{' | b'[' => {
            let (mut depth, mut at) = (0_usize, 0);
            loop {
                match bytes.get(at)? {
                    b'"' => at += string_end(&bytes[at + 1..])?,
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => depth -= 1,
                    _ => {}
                }
                at += 1;
                if depth == 0 {
                    return Some(at);
                }
            }
        }
        _ => bytes.iter().position(|c| matches!(c, b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t')),
    }
}

/// The text without the white space, and the comma, that it begins with.
pub(crate) fn trim(bytes: &[u8]) -> &[u8] {
    let bytes = bytes.trim_ascii_start();
    bytes.strip_prefix(b",").map_or(bytes, |rest| rest.trim_ascii_start())
}

/// The name of the member that these bytes begin with, and the size up to its value; `None` if that is not all there.
pub(crate) fn name(bytes: &[u8]) -> Option<(&[u8], usize)> {
    let rest = bytes.strip_prefix(b"\"")?;
    let end = string_end(rest)?;
    let value = rest[end..].trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
    (!value.is_empty()).then(|| (&rest[..end - 1], bytes.len() - value.len()))
}

/// The value of a member of an object.
pub(super) fn get<'a>(object: &'a [u8], wanted: &str) -> Option<&'a [u8]> {
    let mut rest = trim(object.trim_ascii_start().strip_prefix(b"{")?);
    loop {
        let (found, at) = name(rest)?;
        let value = &rest[at..];
        let size = size(value)?;
        if found == wanted.as_bytes() {
            return Some(&value[..size]);
        }
        rest = trim(&value[size..]);
    }
}

/// The first item of an array.
pub(super) fn first(array: &[u8]) -> Option<&[u8]> {
    let rest = array.strip_prefix(b"[")?.trim_ascii_start();
    rest.get(..size(rest)?)
}

/// The content of a string.
pub(super) fn string(raw: &[u8]) -> Option<&[u8]> {
    raw.strip_prefix(b"\"")?.strip_suffix(b"\"")
}

/// The text behind a member's name, wherever the member is.
pub(crate) fn text_after<'a>(json: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let mut rest = json;
    loop {
        let at = memmem::find(rest, name.as_bytes())?;
        let before = at.checked_sub(1).map(|i| rest[i]);
        rest = &rest[at + name.len()..];
        if before != Some(b'"') {
            continue;
        }
        if let Some(found) = text_value(rest) {
            return Some(found);
        }
    }
}

/// The text of a member behind its name: `": "text"`.
fn text_value(rest: &[u8]) -> Option<&[u8]> {
    let rest = rest.strip_prefix(b"\"")?.trim_ascii_start();
    let rest = rest.strip_prefix(b":")?.trim_ascii_start().strip_prefix(b"\"")?;
    Some(&rest[..memchr::memchr(b'"', rest)?])
}

pub(super) fn version(json: &[u8]) -> Result<u64, Wrong> {
    match get(json, "metadata").and_then(|meta| get(meta, "resourceVersion")).and_then(string) {
        Some(text) => number(text),
        None => Err(Wrong(format!("no resourceVersion in {}", excerpt(json)))),
    }
}

/// Type, resource version and object of an event.
pub(super) fn event(line: &[u8]) -> Result<(&[u8], u64, &[u8]), Wrong> {
    let text = line.trim_ascii();
    if size(text) != Some(text.len()) || text.first() != Some(&b'{') {
        return Err(Wrong(format!("an event that is no JSON object: {}", excerpt(line))));
    }
    let kind = get(text, "type").and_then(string);
    let kind = kind.ok_or_else(|| Wrong(format!("an event without a type: {}", excerpt(line))))?;
    if kind == b"ERROR" {
        return Ok((kind, 0, text));
    }
    let object = get(text, "object").ok_or_else(|| Wrong(format!("an event without an object: {}", excerpt(line))))?;
    Ok((kind, version(object)?, object))
}
