//! The facts that an object shows, read at their places in each encoding.

use serde_json::Value;

use super::{Format, cbor, json, protobuf};
use crate::print::Print;

/// The name of a member, and its number in protobuf.
type Member = (&'static str, u64);
const METADATA: Member = ("metadata", 1);

/// Facts that an object shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts<'a> {
    /// Its name.
    pub name: &'a [u8],
    /// Its namespace.
    pub namespace: &'a [u8],
    /// Its uid.
    pub uid: &'a [u8],
    /// Its resource version; 0 where that is no number.
    pub version: u64,
    /// The value of the label of a run.
    pub run: &'a [u8],
    /// The text that fills it, where it is at its place.
    pub text: Option<&'a [u8]>,
}

/// The value of a member.
pub(crate) fn get(format: Format, object: &[u8], (name, number): Member) -> Option<&[u8]> {
    match format {
        Format::Json => json::get(object, name),
        Format::Protobuf => protobuf::field(object, number),
        Format::Cbor => cbor::get(object, name),
    }
}

/// The first item of an array.
pub(crate) fn first(format: Format, items: &[u8]) -> Option<&[u8]> {
    match format {
        Format::Json => json::first(items),
        Format::Protobuf => Some(items),
        Format::Cbor => cbor::first(items),
    }
}

/// The content of a string.
pub(crate) fn string(format: Format, raw: &[u8]) -> Option<&[u8]> {
    match format {
        Format::Json => json::string(raw),
        Format::Protobuf => Some(raw),
        Format::Cbor => cbor::text(raw),
    }
}

fn text(format: Format, object: &[u8], member: Member) -> Option<&[u8]> {
    string(format, get(format, object, member)?)
}

/// The value of a key of a map of strings.
fn entry<'a>(format: Format, object: &'a [u8], (name, number): Member, key: &'static str) -> Option<&'a [u8]> {
    if format != Format::Protobuf {
        return text(format, get(format, object, (name, number))?, (key, 0));
    }
    let mut rest = object;
    loop {
        let (found, after) = protobuf::next(rest, number)?;
        if protobuf::field(found, 1) == Some(key.as_bytes()) {
            return Some(protobuf::field(found, 2).unwrap_or_default());
        }
        rest = after;
    }
}

impl<'a> Facts<'a> {
    /// The facts of an object; a protobuf one is without its envelope.
    pub fn of(format: Format, object: &'a [u8]) -> Self {
        let meta = get(format, object, METADATA).unwrap_or_default();
        let member = |member| text(format, meta, member).unwrap_or_default();
        let version = std::str::from_utf8(member(("resourceVersion", 6))).ok().and_then(|text| text.parse().ok());
        Self {
            name: member(("name", 1)),
            namespace: member(("namespace", 3)),
            uid: member(("uid", 5)),
            version: version.unwrap_or(0),
            run: entry(format, meta, ("labels", 11), "hydrofoil.dev/bench").unwrap_or_default(),
            text: Self::filler(format, object),
        }
    }

    fn filler(format: Format, object: &'a [u8]) -> Option<&'a [u8]> {
        if let Some(text) = entry(format, object, ("data", 2), "text") {
            return Some(text);
        }
        let containers = get(format, get(format, object, ("spec", 2))?, ("containers", 2))?;
        let env = first(format, get(format, first(format, containers)?, ("env", 7))?)?;
        (text(format, env, ("name", 1))? == b"TEXT").then(|| text(format, env, ("value", 2)))?
    }
}

/// The name of an object as a text.
pub(crate) fn name(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The row's object of an event of a table, or the object itself; a protobuf object without its envelope.
pub(crate) fn bare(format: Format, object: &[u8], table: bool) -> Option<&[u8]> {
    match format {
        Format::Protobuf => protobuf::object(object),
        _ if table => get(format, first(format, get(format, object, ("rows", 0))?)?, ("object", 0)),
        _ => Some(object),
    }
}

/// Prints of metadata and of all else of an object, the same for any order of members. `None` for protobuf.
pub(crate) fn digest(format: Format, object: &[u8]) -> Option<(u64, u64)> {
    let mut value = match format {
        Format::Json => serde_json::from_slice(object).ok()?,
        Format::Cbor => cbor::value(object)?.0,
        Format::Protobuf => return None,
    };
    let members = value.as_object_mut()?;
    let meta = members.remove("metadata")?;
    members.remove("kind");
    members.remove("apiVersion");
    // The members of an object of `serde_json` are sorted.
    let print = |value: &Value| serde_json::to_vec(value).map(|text| Print::of(&text).hash()).ok();
    Some((print(&meta)?, print(&value)?))
}

/// Kind and name in an answer to a deletion: the object, or a status with its details.
pub(crate) fn deletion_facts(format: Format, body: &[u8]) -> Option<(&[u8], &[u8])> {
    let (kind, object) = match format {
        Format::Protobuf => (protobuf::kind(body)?, protobuf::object(body)?),
        _ => (text(format, body, ("kind", 0))?, body),
    };
    let named = if kind == b"Status" { ("details", 5) } else { METADATA };
    Some((kind, text(format, get(format, object, named)?, ("name", 1))?))
}
