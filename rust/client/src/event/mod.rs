//! Events of a watch: the stream split into events, and each read without decoding its object.

mod cbor;
mod json;
mod protobuf;

use crate::marks::{self, CHURN, CHURN_DATA, Mark, SEED, SEED_DATA};
use crate::wrong::Wrong;

pub(crate) use json::text_after;

/// The largest event.
const MOST: usize = 16 << 20;

/// How bytes have to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// JSON, tables and metadata included.
    Json,
    /// The protobuf of Kubernetes.
    Protobuf,
    /// CBOR.
    Cbor,
}

/// The type of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `ADDED`.
    Added,
    /// `MODIFIED`.
    Modified,
    /// `DELETED`.
    Deleted,
    /// `BOOKMARK`.
    Bookmark,
}

/// One event.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    /// Its type.
    pub kind: Kind,
    /// The resource version.
    pub version: u64,
    /// The mark in the annotation of the object; other objects than ours have no mark.
    pub mark: Option<Mark>,
    /// The mark in the data.
    pub data: Option<Mark>,
    /// The bytes of the event.
    pub raw: &'a [u8],
    /// How they are read.
    pub format: Format,
}

impl Event<'_> {
    /// Whether the data is that of the mark; it is older after a write of the status.
    pub fn whole(&self, or_older: bool) -> bool {
        let (Some(mark), Some(data)) = (self.mark, self.data) else { return false };
        mark.number == data.number && (mark.write == data.write || or_older && data.write < mark.write)
    }

    /// Whether the object has the time of its deletion.
    pub fn ending(&self) -> bool {
        match self.format {
            Format::Protobuf => protobuf::ending(self.raw.get(4..).unwrap_or_default()),
            _ => memchr::memmem::find(self.raw, b"deletionTimestamp").is_some(),
        }
    }
}

/// A splitter of the bytes of a watch.
#[derive(Debug)]
pub struct Splitter {
    format: Format,
    kept: Vec<u8>,
}

impl Splitter {
    /// A splitter of a stream that begins.
    pub fn new(format: Format) -> Self {
        Self { format, kept: Vec::new() }
    }

    /// Forget the stream so far.
    pub fn clear(&mut self) {
        self.kept.clear();
    }

    /// Whether the stream is at the end of an event.
    pub fn between(&self) -> bool {
        self.kept.is_empty()
    }

    /// The length of the event that these bytes begin with.
    fn length(&self, bytes: &[u8], seen: usize) -> Result<Option<usize>, Wrong> {
        match self.format {
            Format::Json => Ok(memchr::memchr(b'\n', &bytes[seen..]).map(|at| seen + at + 1)),
            Format::Protobuf => {
                let Some(head) = bytes.first_chunk() else { return Ok(None) };
                let size = u32::from_be_bytes(*head) as usize;
                if size > MOST {
                    return Err(Wrong(format!("an event of {size} bytes")));
                }
                Ok((bytes.len() >= 4 + size).then_some(4 + size))
            }
            Format::Cbor => cbor::length(bytes),
        }
    }

    /// Visit each event that ends in this piece.
    pub fn feed(&mut self, piece: &[u8], mut visit: impl FnMut(Event<'_>) -> Result<(), Wrong>) -> Result<(), Wrong> {
        let mut rest = piece;
        while !self.kept.is_empty() && !rest.is_empty() {
            let before = self.kept.len();
            // The rest of one event is rarely longer than this; a piece has many events.
            let more = rest.len().min(16 << 10);
            self.kept.extend_from_slice(&rest[..more]);
            match self.length(&self.kept, if self.format == Format::Json { before } else { 0 })? {
                Some(end) => {
                    let whole = std::mem::take(&mut self.kept);
                    visit(read(self.format, &whole[..end])?)?;
                    self.kept = whole;
                    self.kept.clear();
                    rest = &rest[end - before..];
                }
                None if self.kept.len() > MOST => return Err(Wrong("an event without an end".to_owned())),
                None => rest = &rest[more..],
            }
        }
        if !self.kept.is_empty() {
            return Ok(());
        }
        while let Some(end) = self.length(rest, 0)? {
            visit(read(self.format, &rest[..end])?)?;
            rest = &rest[end..];
        }
        self.kept.extend_from_slice(rest);
        Ok(())
    }
}

/// Read one event.
pub fn read(format: Format, raw: &[u8]) -> Result<Event<'_>, Wrong> {
    let (kind, version, object) = match format {
        Format::Json => json::event(raw)?,
        Format::Protobuf => protobuf::event(raw.get(4..).unwrap_or_default())?,
        Format::Cbor => cbor::event(raw)?,
    };
    let kind = match kind {
        b"ADDED" => Kind::Added,
        b"MODIFIED" => Kind::Modified,
        b"DELETED" => Kind::Deleted,
        b"BOOKMARK" => Kind::Bookmark,
        _ => return Err(Wrong(format!("an event of type {}: {}", shown(kind), shown(raw)))),
    };
    if kind == Kind::Bookmark {
        return Ok(Event { kind, version, mark: None, data: None, raw, format });
    }
    let mark = own_mark(object);
    let data = mark.and_then(|mark| data_mark(object, mark));
    Ok(Event { kind, version, mark, data, raw, format })
}

/// The mark in the annotation of one object.
pub(crate) fn own_mark(object: &[u8]) -> Option<Mark> {
    marks::all(object).find(|(mark, _)| matches!(mark.place, SEED | CHURN)).map(|(mark, _)| mark)
}

/// The mark in the data of an object that has this mark.
pub(crate) fn data_mark(object: &[u8], mark: Mark) -> Option<Mark> {
    let place = if mark.place == SEED { SEED_DATA } else { CHURN_DATA };
    marks::all(object).map(|(found, _)| found).find(|found| found.place == place)
}

/// The resource version of a single object.
pub(crate) fn version(format: Format, object: &[u8]) -> Result<u64, Wrong> {
    match format {
        Format::Json => json::version(object),
        Format::Protobuf => protobuf::version(object),
        Format::Cbor => cbor::version(object),
    }
}

/// A text of the metadata of a list: where it continues, or its version.
pub(crate) fn list_text(format: Format, start: &[u8], end: &[u8], name: &str) -> Option<String> {
    let found = match format {
        Format::Json => json::text_after(start, name),
        Format::Protobuf => protobuf::list_text(start, name),
        Format::Cbor => cbor::text_after(start, name).or_else(|| cbor::text_after(end, name)),
    };
    found.map(|text| String::from_utf8_lossy(text).into_owned()).filter(|text| !text.is_empty())
}

fn number(text: &[u8]) -> Result<u64, Wrong> {
    let found = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).filter(|&n| n > 0);
    found.ok_or_else(|| Wrong(format!("resourceVersion {:?} is not a positive number", shown(text))))
}

/// The start of bytes, as a text for an error.
pub(crate) fn shown(bytes: &[u8]) -> String {
    let start = &bytes[..bytes.len().min(300)];
    String::from_utf8_lossy(start).trim().to_owned()
}

#[cfg(test)]
mod tests;
