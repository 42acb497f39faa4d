//! Events of a watch: the stream split into events, and each read without decoding its object.

pub(crate) mod cbor;
mod facts;
pub(crate) mod json;
pub(crate) mod protobuf;

use crate::marks::{self, CHURN, CHURN_DATA, Mark, SEED, SEED_DATA};
use crate::print::Print;
use crate::wrong::Wrong;

pub use facts::Facts;
pub(crate) use facts::{bare, deletion_facts, digest, first, get, name, string};
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
    /// The object itself; of a table, that of its row.
    pub object: &'a [u8],
    /// The facts that it shows.
    pub facts: Facts<'a>,
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
        let format = self.format;
        self.split(piece, &mut |raw: &[u8]| visit(read(format, raw)?))
    }

    /// Hand over each event that ends in this piece.
    pub(crate) fn split(&mut self, piece: &[u8], sink: &mut impl Sink) -> Result<(), Wrong> {
        let mut rest = piece;
        while !self.kept.is_empty() && !rest.is_empty() {
            let before = self.kept.len();
            // The rest of one event is rarely longer than this; a piece has many events.
            let more = rest.len().min(16 << 10);
            self.kept.extend_from_slice(&rest[..more]);
            match self.length(&self.kept, if self.format == Format::Json { before } else { 0 })? {
                Some(end) => {
                    let whole = std::mem::take(&mut self.kept);
                    if sink.due().size() != end || !sink.take_known(&whole[..end])? {
                        sink.event(&whole[..end])?;
                    }
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
        loop {
            // The event that is due is known by its print, before anything of it is read.
            let due = sink.due().size();
            if due > 0 && due <= rest.len() && sink.take_known(&rest[..due])? {
                rest = &rest[due..];
                continue;
            }
            let Some(end) = self.length(rest, 0)? else { break };
            sink.event(&rest[..end])?;
            rest = &rest[end..];
        }
        self.kept.extend_from_slice(rest);
        Ok(())
    }
}

/// The taker of the events of a stream.
pub(crate) trait Sink {
    /// The print of the event that is due, where others have shown it.
    fn due(&self) -> Print {
        Print::default()
    }

    /// Take these bytes if they are the event that is due; report whether they were.
    fn take_known(&mut self, _: &[u8]) -> Result<bool, Wrong> {
        Ok(false)
    }

    /// Take an event.
    fn event(&mut self, raw: &[u8]) -> Result<(), Wrong>;
}

impl<F: FnMut(&[u8]) -> Result<(), Wrong>> Sink for F {
    fn event(&mut self, raw: &[u8]) -> Result<(), Wrong> {
        self(raw)
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
        _ => return Err(Wrong(format!("an event of type {}: {}", excerpt(kind), excerpt(raw)))),
    };
    let table = format != Format::Protobuf && is_table(format, object);
    let inner = bare(format, object, table);
    if kind == Kind::Bookmark {
        return Ok(Event { kind, version, mark: None, data: None, object, facts: Facts::default(), raw, format });
    }
    let inner = inner.ok_or_else(|| Wrong(format!("an event without an object: {}", excerpt(raw))))?;
    let (mark, facts) = (own_mark(inner), Facts::of(format, inner));
    if facts.version != version && (facts.version != 0 || !table) {
        let name = name(facts.name);
        return Err(Wrong(format!("the event of {name} has resourceVersion {version}, its object {}", facts.version)));
    }
    let data = mark.and_then(|mark| data_mark(inner, mark));
    Ok(Event { kind, version, mark, data, object: inner, facts, raw, format })
}

fn is_table(format: Format, object: &[u8]) -> bool {
    get(format, object, ("kind", 0)).and_then(|kind| string(format, kind)) == Some(b"Table")
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
pub(crate) fn list_text(format: Format, meta: &[u8], wanted: &'static str) -> Option<String> {
    let found = get(format, meta, (wanted, if wanted == "continue" { 3 } else { 2 }))?;
    string(format, found).map(name).filter(|text| !text.is_empty())
}

fn number(text: &[u8]) -> Result<u64, Wrong> {
    let found = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).filter(|&n| n > 0);
    found.ok_or_else(|| Wrong(format!("resourceVersion {:?} is not a positive number", excerpt(text))))
}

/// The start of bytes, as a text for an error.
pub(crate) fn excerpt(bytes: &[u8]) -> String {
    let start = &bytes[..bytes.len().min(300)];
    String::from_utf8_lossy(start).trim().to_owned()
}

#[cfg(test)]
mod tests;
