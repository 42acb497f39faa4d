//! JSON, compact or with white space.

use memchr::memmem;

use super::{number, shown};
use crate::wrong::Wrong;

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
    match text_after(json, "resourceVersion") {
        Some(text) => number(text),
        None => Err(Wrong(format!("no resourceVersion in {}", shown(json)))),
    }
}

/// Type, resource version and object of an event.
pub(super) fn event(line: &[u8]) -> Result<(&[u8], u64, &[u8]), Wrong> {
    let text = line.trim_ascii();
    if text.first() != Some(&b'{') || text.last() != Some(&b'}') {
        return Err(Wrong(format!("an event that is no JSON object: {}", shown(line))));
    }
    let first = text[1..].trim_ascii_start();
    let kind = match first.strip_prefix(b"\"type") {
        Some(rest) => text_value(rest),
        // A type that follows its object is its last member.
        None => memmem::rfind(text, b"\"type").and_then(|at| text_value(&text[at + 5..])),
    };
    let kind = kind.ok_or_else(|| Wrong(format!("an event without a type: {}", shown(line))))?;
    if kind == b"ERROR" {
        return Ok((kind, 0, text));
    }
    Ok((kind, version(text)?, text))
}
