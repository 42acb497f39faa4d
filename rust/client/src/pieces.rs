//! A list, taken apart into its objects while its bytes arrive.

use crate::event::{Format, cbor, json, protobuf};
use crate::print::Print;
use crate::wrong::Wrong;

/// The largest object, and the largest rest of a list.
const MOST: usize = 64 << 20;
/// Bytes that are joined to the start of an object in the piece before.
const JOINED: usize = 16 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Before the first member.
    Start,
    /// Between two members: those that are left, where a map has a number.
    Members(Option<u64>),
    /// Between two items of the list, and the members behind it.
    Items(Option<u64>, Option<u64>),
    /// Between two fields of a message, of which this is left.
    Fields(u64),
    /// Behind everything.
    Over,
}

/// The taker of the objects of a list.
pub(crate) trait Items {
    /// The print of the object that is due, where it is known.
    fn due(&self) -> Print;
    /// Take these bytes if they are the object that is due; report whether they were.
    fn take_known(&mut self, raw: &[u8]) -> Result<bool, Wrong>;
    /// Take an object.
    fn item(&mut self, raw: &[u8]) -> Result<(), Wrong>;
}

/// One list.
#[derive(Debug)]
pub(crate) struct Pieces {
    format: Format,
    place: Place,
    kept: Vec<u8>,
    /// Its kind, and its metadata.
    pub(crate) kind: Vec<u8>,
    pub(crate) meta: Vec<u8>,
    listed: bool,
}

fn malformed_list() -> Wrong {
    Wrong("a list that is malformed".to_owned())
}

/// Number, kind and length of the field that these bytes begin with, and the size of its head.
fn field(bytes: &[u8]) -> Result<Option<(u64, u64, usize)>, Wrong> {
    let mut rest = bytes;
    let Some(key) = protobuf::varint(&mut rest) else {
        return if bytes.len() > 10 { Err(malformed_list()) } else { Ok(None) };
    };
    let size = match key & 7 {
        2 => match protobuf::varint(&mut rest) {
            Some(size) => size,
            None => return if bytes.len() > 20 { Err(malformed_list()) } else { Ok(None) },
        },
        0 => {
            let mut after = rest;
            match protobuf::varint(&mut after) {
                Some(_) => (rest.len() - after.len()) as u64,
                None => return if rest.len() > 10 { Err(malformed_list()) } else { Ok(None) },
            }
        }
        1 => 8,
        5 => 4,
        _ => return Err(malformed_list()),
    };
    Ok(Some((key >> 3, size, bytes.len() - rest.len())))
}

/// The content of a field, if all of it is there.
fn value(bytes: &[u8], at: usize, size: u64) -> Option<&[u8]> {
    bytes.get(at..at.checked_add(usize::try_from(size).ok()?)?)
}

impl Pieces {
    pub(crate) fn new(format: Format) -> Self {
        Self { format, place: Place::Start, kept: Vec::new(), kind: Vec::new(), meta: Vec::new(), listed: false }
    }

    /// Expect another list.
    pub(crate) fn restart(&mut self) {
        self.place = Place::Start;
        self.kept.clear();
        self.kind.clear();
        self.meta.clear();
        self.listed = false;
    }

    /// Whether all of the list has come.
    pub(crate) fn over(&self) -> bool {
        self.kept.is_empty()
            && match self.place {
                Place::Over => true,
                // An envelope has no end of its own.
                Place::Fields(left) => left == u64::MAX && self.listed,
                _ => false,
            }
    }

    pub(crate) fn feed(&mut self, piece: &[u8], items: &mut impl Items) -> Result<(), Wrong> {
        let mut rest = piece;
        while !self.kept.is_empty() && !rest.is_empty() {
            let before = self.kept.len();
            let due = items.due().size().saturating_sub(before);
            let more = rest.len().min(if due > 0 { due + 1 } else { JOINED });
            let mut joined = std::mem::take(&mut self.kept);
            joined.extend_from_slice(&rest[..more]);
            let taken = self.advance(&joined, items)?;
            if taken >= before {
                rest = &rest[taken - before..];
                joined.clear();
            } else {
                rest = &rest[more..];
                joined.drain(..taken);
                if joined.len() > MOST {
                    return Err(malformed_list());
                }
            }
            self.kept = joined;
        }
        if self.kept.is_empty() {
            let taken = self.advance(rest, items)?;
            self.kept.extend_from_slice(&rest[taken..]);
        }
        Ok(())
    }

    /// Take what is complete; return its size.
    fn advance(&mut self, bytes: &[u8], items: &mut impl Items) -> Result<usize, Wrong> {
        let mut at = 0;
        loop {
            let rest = &bytes[at..];
            let step = match self.format {
                Format::Json => self.json(rest, items)?,
                Format::Cbor => self.cbor(rest, items)?,
                Format::Protobuf => self.protobuf(rest, items)?,
            };
            match step {
                Some(size) => at += size,
                None => return Ok(at),
            }
        }
    }

    /// Take an object: the one that is due, or another one of this size.
    fn item(
        rest: &[u8],
        items: &mut impl Items,
        size: impl FnOnce() -> Result<Option<usize>, Wrong>,
    ) -> Result<Option<usize>, Wrong> {
        let due = items.due().size();
        if due > 0 && due <= rest.len() && items.take_known(&rest[..due])? {
            return Ok(Some(due));
        }
        let Some(size) = size()? else { return Ok(None) };
        items.item(&rest[..size])?;
        Ok(Some(size))
    }

    fn member(&mut self, name: &[u8], text: Option<&[u8]>, raw: &[u8]) {
        match name {
            b"kind" => self.kind = text.unwrap_or_default().to_vec(),
            b"metadata" => self.meta = raw.to_vec(),
            _ => {}
        }
    }

    fn json(&mut self, rest: &[u8], items: &mut impl Items) -> Result<Option<usize>, Wrong> {
        let text = json::trim(rest);
        let skipped = rest.len() - text.len();
        let Some(&first) = text.first() else {
            return Ok((skipped > 0).then_some(skipped));
        };
        match (self.place, first) {
            (Place::Start, b'{') | (Place::Items(..), b']') => self.place = Place::Members(None),
            (Place::Members(_), b'}') => self.place = Place::Over,
            (Place::Members(_), b'"') => {
                let Some((name, at)) = json::name(text) else { return Ok(None) };
                if matches!(name, b"items" | b"rows") && text[at] == b'[' {
                    self.place = Place::Items(None, None);
                    return Ok(Some(skipped + at + 1));
                }
                let Some(size) = json::size(&text[at..]) else { return Ok(None) };
                let raw = &text[at..at + size];
                self.member(name, raw.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\"")), raw);
                return Ok(Some(skipped + at + size));
            }
            (Place::Items(..), b'{') => {
                let taken = Self::item(text, items, || Ok(json::size(text)))?;
                return Ok(taken.map(|size| skipped + size));
            }
            _ => return Err(malformed_list()),
        }
        Ok(Some(skipped + 1))
    }

    fn cbor(&mut self, rest: &[u8], items: &mut impl Items) -> Result<Option<usize>, Wrong> {
        let ended = |left: Option<u64>| left.map_or(rest.first() == Some(&0xff), |left| left == 0);
        match self.place {
            Place::Start => {
                if rest.len() < 16 && cbor::length(rest)?.is_none() && cbor::read_head(rest, cbor::MAP).is_none() {
                    return Ok(None);
                }
                let (members, size) = cbor::read_head(rest, cbor::MAP).ok_or_else(malformed_list)?;
                self.place = Place::Members(members);
                Ok(Some(size))
            }
            Place::Members(left) if ended(left) => {
                self.place = Place::Over;
                Ok(Some(usize::from(left.is_none())))
            }
            Place::Members(left) => {
                let Some(at) = cbor::length(rest)? else { return Ok(None) };
                let name = cbor::text(rest).ok_or_else(malformed_list)?;
                let (value, left) = (&rest[at..], left.map(|left| left - 1));
                if matches!(name, b"items" | b"rows")
                    && let Some((count, size)) = cbor::read_head(value, cbor::ARRAY)
                {
                    self.place = Place::Items(count, left);
                    return Ok(Some(at + size));
                }
                let Some(size) = cbor::length(value)? else { return Ok(None) };
                self.member(name, cbor::text(value), &value[..size]);
                self.place = Place::Members(left);
                Ok(Some(at + size))
            }
            Place::Items(left, members) if ended(left) => {
                self.place = Place::Members(members);
                Ok(Some(usize::from(left.is_none())))
            }
            Place::Items(left, members) => {
                let taken = Self::item(rest, items, || cbor::length(rest))?;
                if taken.is_some() {
                    self.place = Place::Items(left.map(|left| left - 1), members);
                }
                Ok(taken)
            }
            _ if rest.is_empty() => Ok(None),
            _ => Err(malformed_list()),
        }
    }

    fn protobuf(&mut self, rest: &[u8], items: &mut impl Items) -> Result<Option<usize>, Wrong> {
        match self.place {
            Place::Start => {
                if rest.len() < 4 {
                    return Ok(None);
                }
                if !rest.starts_with(b"k8s\0") {
                    return Err(malformed_list());
                }
                self.place = Place::Fields(u64::MAX);
                Ok(Some(4))
            }
            // The envelope: the type, and the list.
            Place::Fields(u64::MAX) => {
                let Some((number, size, at)) = field(rest)? else { return Ok(None) };
                if number == 2 {
                    self.listed = true;
                    self.place = Place::Fields(size);
                    return Ok(Some(at));
                }
                let Some(value) = value(rest, at, size) else { return Ok(None) };
                if number == 1 {
                    self.kind = protobuf::field(value, 2).unwrap_or_default().to_vec();
                }
                Ok(Some(at + value.len()))
            }
            Place::Fields(0) => {
                self.place = Place::Fields(u64::MAX);
                Ok(Some(0))
            }
            Place::Fields(left) => {
                let Some((number, size, at)) = field(rest)? else { return Ok(None) };
                let whole = size.saturating_add(at as u64);
                if whole > left {
                    return Err(malformed_list());
                }
                let Some(value) = value(rest, at, size) else { return Ok(None) };
                match number {
                    1 => self.meta = value.to_vec(),
                    2 if items.due().size() == value.len() && items.take_known(value)? => {}
                    2 => items.item(value)?,
                    _ => {}
                }
                self.place = Place::Fields(left - whole);
                Ok(Some(at + value.len()))
            }
            _ => Err(malformed_list()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The objects of a list, of which every second one is known in advance.
    #[derive(Default)]
    struct Seen {
        prints: Vec<Print>,
        items: Vec<Vec<u8>>,
        known: usize,
    }

    impl Items for Seen {
        fn due(&self) -> Print {
            self.prints.get(self.items.len()).copied().unwrap_or_default()
        }

        fn take_known(&mut self, raw: &[u8]) -> Result<bool, Wrong> {
            let known = self.due().begins(raw);
            if known {
                self.items.push(raw.to_vec());
                self.known += 1;
            }
            Ok(known)
        }

        fn item(&mut self, raw: &[u8]) -> Result<(), Wrong> {
            self.items.push(raw.to_vec());
            Ok(())
        }
    }

    fn message(number: u8, content: &[u8]) -> Vec<u8> {
        [&[number << 3 | 2, content.len() as u8][..], content].concat()
    }

    /// Lists of three objects, in each encoding, with their objects.
    fn lists() -> Vec<(Format, Vec<u8>, Vec<Vec<u8>>)> {
        let json: Vec<_> = [r#"{"a":"}]"}"#, "{}", r#"{"b":[{"c":"\""}]}"#].map(|text| text.as_bytes().to_vec()).into();
        let spaced = json.iter().map(|item| String::from_utf8(item.clone()).unwrap()).collect::<Vec<_>>().join(" ,\n ");
        let text = format!(r#" {{ "kind":"L","items" : [ {spaced} ], "metadata":{{"x":"y"}} }} "#).into_bytes();
        let table =
            format!(r#"{{"kind":"L","columns":[[1],2],"metadata":{{"x":"y"}},"rows":[{spaced}]}}"#).into_bytes();
        let fields: Vec<_> = vec![message(1, b"a"), Vec::new(), message(2, b"bb")];
        let inner: Vec<u8> = fields.iter().flat_map(|item| message(2, item)).collect();
        let list = [message(1, b"meta"), inner, vec![3 << 3, 0x85, 1]].concat();
        let envelope = [b"k8s\0".to_vec(), message(1, &message(2, b"L")), message(2, &list), message(3, b"")].concat();
        let maps: Vec<_> = vec![b"\xa1\x41a\x61b".to_vec(), b"\xa0".to_vec(), b"\xbf\xff".to_vec()];
        let kind = b"\x44kind\x61L";
        let meta = b"\x48metadata\xa0";
        let cbor = [&b"\xd9\xd9\xf7\xa3"[..], kind, b"\x45items\x83", &maps.concat(), meta].concat();
        let open = [&b"\xbf"[..], meta, kind, b"\x45items\x9f", &maps.concat(), b"\xff\xff"].concat();
        vec![
            (Format::Json, text, json.clone()),
            (Format::Json, table, json),
            (Format::Protobuf, envelope, fields),
            (Format::Cbor, cbor, maps.clone()),
            (Format::Cbor, open, maps),
        ]
    }

    #[test]
    fn every_split_gives_the_same_objects_known_or_not() {
        for (format, body, items) in lists() {
            for at in 0..=body.len() {
                for known in [false, true] {
                    let mut seen = Seen::default();
                    if known {
                        seen.prints = items.iter().map(|item| Print::of(item)).collect();
                        seen.prints[2] = Print::of(b"other");
                    }
                    let mut pieces = Pieces::new(format);
                    pieces.feed(&body[..at], &mut seen).unwrap();
                    assert!(at == body.len() || at + 3 > body.len() || !pieces.over(), "{format:?} at {at}");
                    pieces.feed(&body[at..], &mut seen).unwrap();
                    assert_eq!(seen.items, items, "{format:?} at {at}");
                    assert!(pieces.over() && pieces.kind == b"L" && !pieces.meta.is_empty(), "{format:?} at {at}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn no_bytes_break_a_list(bytes in prop::collection::vec(any::<u8>(), 0..200), at in 0_usize..200, cut in 0_usize..80) {
            for (format, body, _) in lists() {
                let mut body = body;
                body.truncate(cut);
                body.extend_from_slice(&bytes);
                let at = at.min(body.len());
                let mut pieces = Pieces::new(format);
                if pieces.feed(&body[..at], &mut Seen::default()).is_ok() {
                    let _ = pieces.feed(&body[at..], &mut Seen::default());
                }
            }
        }
    }
}
