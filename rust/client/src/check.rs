//! Lists, checked as their bytes arrive.

use flate2::write::GzDecoder;

use crate::board::{churn_name, seed_name};
use crate::marks::{self, Mark, Scanner};
use crate::plan::Encoding;
use crate::wrong::Wrong;

/// How much of the start and of the end of a list is kept.
const KEPT: usize = 4 << 10;

/// The objects of one list, each once and in order.
#[derive(Debug)]
pub(crate) struct Listed {
    encoding: Encoding,
    scanner: Scanner,
    next: u32,
    next_data: u32,
    last_churn: Option<u32>,
    objects: u32,
    pub(crate) start: Vec<u8>,
    pub(crate) end: Vec<u8>,
    pub(crate) size: u64,
}

impl Listed {
    pub(crate) fn new(encoding: Encoding, objects: u32) -> Self {
        let scanner = Scanner::default();
        let (start, end) = (Vec::new(), Vec::new());
        Self { encoding, scanner, next: 0, next_data: 0, last_churn: None, objects, start, end, size: 0 }
    }

    /// Expect another list, which begins with this object.
    pub(crate) fn restart(&mut self, from: u32) {
        self.scanner.clear();
        (self.next, self.next_data) = (from, from);
        self.last_churn = None;
        self.start.clear();
        self.end.clear();
        self.size = 0;
    }

    /// The number of the next object.
    pub(crate) fn position(&self) -> u32 {
        self.next
    }

    pub(crate) fn feed(&mut self, piece: &[u8]) -> Result<(), Wrong> {
        self.size += piece.len() as u64;
        if self.start.len() < KEPT {
            self.start.extend_from_slice(&piece[..piece.len().min(KEPT - self.start.len())]);
        }
        let tail = &piece[piece.len().saturating_sub(KEPT)..];
        if self.end.len() + tail.len() > 2 * KEPT {
            let drop = self.end.len().saturating_sub(KEPT.saturating_sub(tail.len()));
            self.end.drain(..drop);
        }
        self.end.extend_from_slice(tail);
        let (next, next_data, last, objects) =
            (&mut self.next, &mut self.next_data, &mut self.last_churn, self.objects);
        self.scanner.scan(piece, |mark| match mark.place {
            marks::SEED => due(next, mark, objects),
            marks::SEED_DATA => due(next_data, mark, objects),
            marks::CHURN => {
                if last.is_some_and(|last| mark.number <= last) {
                    return Err(Wrong(format!("{} is listed twice or out of order", churn_name(mark.number))));
                }
                *last = Some(mark.number);
                Ok(())
            }
            _ => Ok(()),
        })
    }

    /// Check that the body is whole; unless there are more pages, all objects have come.
    pub(crate) fn finish(&self, more: bool) -> Result<(), Wrong> {
        if self.encoding.format() == crate::event::Format::Json {
            let ends = (self.start.trim_ascii_start().first(), self.end.trim_ascii_end().last());
            if ends != (Some(&b'{'), Some(&b'}')) {
                return Err(Wrong("a list that is no complete JSON object".to_owned()));
            }
        }
        let kind = self.encoding.list_kind().unwrap_or_default();
        if memchr::memmem::find(&self.start, kind).is_none() {
            return Err(Wrong(format!("a list that is no {}", String::from_utf8_lossy(kind))));
        }
        if !more && self.next < self.objects {
            return Err(Wrong(format!("{} is missing, and all after it", seed_name(self.next))));
        }
        if self.encoding.has_data() && self.next_data != self.next {
            let first = seed_name(self.next.min(self.next_data));
            return Err(Wrong(format!("the data of {first} is missing or does not belong to it")));
        }
        Ok(())
    }
}

fn due(next: &mut u32, mark: Mark, objects: u32) -> Result<(), Wrong> {
    if mark.number == *next && mark.number < objects {
        *next += 1;
        return Ok(());
    }
    let (found, wanted) = (seed_name(mark.number), seed_name(*next));
    Err(Wrong(if mark.number >= objects {
        format!("{found} is listed and was never made")
    } else if mark.number > *next {
        format!("{wanted} is missing or out of order: {found} is in its place")
    } else {
        format!("{found} is listed twice or out of order")
    }))
}

/// A list that may be packed. A body that is byte for byte the one that was unpacked and checked before is as right.
#[derive(Debug)]
pub(crate) struct Unpacked {
    pub(crate) listed: Listed,
    /// Whether packed bodies are compared with the one before: not where something is read from them.
    compares: bool,
    packed: bool,
    decoder: Option<GzDecoder<Vec<u8>>>,
    /// The last packed body that was checked.
    known: Vec<u8>,
    /// How much of it this body has repeated; `None` once they differ.
    same: Option<usize>,
    current: Vec<u8>,
    pub(crate) size: u64,
    started: bool,
}

impl Unpacked {
    pub(crate) fn new(listed: Listed, compares: bool) -> Self {
        let (known, current) = (Vec::new(), Vec::new());
        Self { listed, compares, packed: false, decoder: None, known, same: None, current, size: 0, started: false }
    }

    /// Expect a body.
    pub(crate) fn begin(&mut self, packed: bool, from: u32) {
        self.listed.restart(from);
        self.packed = packed;
        self.size = 0;
        self.started = false;
        self.decoder = None;
        self.current.clear();
        self.same = (packed && self.compares && !self.known.is_empty()).then_some(0);
    }

    /// Take a piece; whether it is the first of its body.
    pub(crate) fn feed(&mut self, piece: &[u8]) -> Result<(), Wrong> {
        self.size += piece.len() as u64;
        if !self.packed {
            return self.listed.feed(piece);
        }
        if let Some(at) = self.same {
            if self.known.get(at..at + piece.len()) == Some(piece) {
                self.same = Some(at + piece.len());
                return Ok(());
            }
            self.same = None;
            let known = std::mem::take(&mut self.known);
            self.unpack(&known[..at])?;
            self.known = known;
        }
        self.unpack(piece)
    }

    fn unpack(&mut self, piece: &[u8]) -> Result<(), Wrong> {
        use std::io::Write;
        if self.compares {
            self.current.extend_from_slice(piece);
        }
        let decoder = self.decoder.get_or_insert_with(|| GzDecoder::new(Vec::with_capacity(64 << 10)));
        // Pieces keep the unpacked text small.
        for part in piece.chunks(16 << 10) {
            decoder.write_all(part).map_err(|e| Wrong(format!("a packed list: {e}")))?;
            self.listed.feed(decoder.get_ref())?;
            decoder.get_mut().clear();
        }
        Ok(())
    }

    /// Check the body; whether it was the same as the one before.
    pub(crate) fn finish(&mut self, more: bool) -> Result<bool, Wrong> {
        if !self.packed {
            self.listed.finish(more)?;
            return Ok(false);
        }
        match self.same {
            Some(at) if at == self.known.len() => return Ok(true),
            Some(at) => {
                let known = std::mem::take(&mut self.known);
                self.unpack(&known[..at])?;
            }
            None => {}
        }
        let Some(decoder) = self.decoder.take() else { return Err(Wrong("an empty packed list".to_owned())) };
        let rest = decoder.finish().map_err(|e| Wrong(format!("a packed list: {e}")))?;
        self.listed.feed(&rest)?;
        self.listed.finish(more)?;
        std::mem::swap(&mut self.known, &mut self.current);
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;
    use crate::marks::{SEED, SEED_DATA};

    fn body(numbers: &[u32]) -> Vec<u8> {
        let mut made = br#"{"kind":"ConfigMapList","items":["#.to_vec();
        for &number in numbers {
            for place in [SEED, SEED_DATA] {
                write!(made, "\"{}\",", Mark { place, number, write: 0 }).unwrap();
            }
        }
        made.extend(b"0]}\n");
        made
    }

    fn packed(body: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(body).unwrap();
        encoder.finish().unwrap()
    }

    fn checked(list: &mut Unpacked, bytes: &[u8], gzip: bool, at: usize) -> Result<bool, Wrong> {
        list.begin(gzip, 0);
        list.feed(&bytes[..at])?;
        list.feed(&bytes[at..])?;
        list.finish(false)
    }

    #[test]
    fn a_right_list_passes_in_any_pieces() {
        let plain = body(&[0, 1, 2, 3]);
        for (bytes, gzip) in [(plain.clone(), false), (packed(&plain), true)] {
            for at in 0..=bytes.len() {
                let mut list = Unpacked::new(Listed::new(Encoding::Json, 4), true);
                assert_eq!(checked(&mut list, &bytes, gzip, at), Ok(false));
                assert_eq!(checked(&mut list, &bytes, gzip, at), Ok(gzip), "the same again");
            }
        }
    }

    #[test]
    fn a_wrong_list_is_named_by_its_object_also_after_right_ones() {
        for (numbers, named) in [
            (&[0, 2, 3][..], "bench-00000001"),
            (&[0, 1, 1, 2, 3], "bench-00000001"),
            (&[0, 2, 1, 3], "bench-00000001"),
            (&[0, 1, 2], "bench-00000003"),
            (&[0, 1, 2, 3, 4], "bench-00000004"),
            (&[], "bench-00000000"),
        ] {
            for gzip in [false, true] {
                let bytes = |numbers| if gzip { packed(&body(numbers)) } else { body(numbers) };
                let mut list = Unpacked::new(Listed::new(Encoding::Json, 4), true);
                checked(&mut list, &bytes(&[0, 1, 2, 3]), gzip, 9).unwrap();
                let Wrong(why) = checked(&mut list, &bytes(numbers), gzip, 9).unwrap_err();
                assert!(why.contains(named), "{why}");
                checked(&mut list, &bytes(&[0, 1, 2, 3]), gzip, 9).unwrap();
            }
        }
    }

    #[test]
    fn a_list_that_is_cut_off_or_broken_is_wrong() {
        let plain = body(&[0, 1]);
        let gzip = packed(&plain);
        for (bytes, gzip) in [(&plain[..plain.len() - 2], false), (&gzip[..gzip.len() - 3], true)] {
            let mut list = Unpacked::new(Listed::new(Encoding::Json, 2), true);
            assert!(checked(&mut list, bytes, gzip, 0).is_err());
        }
        let mut broken = gzip.clone();
        let at = broken.len() - 6;
        broken[at] ^= 1;
        let mut list = Unpacked::new(Listed::new(Encoding::Json, 2), true);
        assert!(checked(&mut list, &gzip, true, 3).is_ok());
        assert!(checked(&mut list, &broken, true, 3).is_err(), "a checksum");
        assert!(checked(&mut list, &gzip[..gzip.len() - 1], true, 3).is_err(), "a part of a known body");
    }

    #[test]
    fn data_belongs_to_its_object() {
        let mut text = body(&[0, 1]);
        let from = Mark { place: SEED_DATA, number: 1, write: 0 }.to_string();
        let at = memchr::memmem::find(&text, from.as_bytes()).unwrap();
        text[at + 9] = b'0';
        let mut list = Unpacked::new(Listed::new(Encoding::Json, 2), false);
        assert!(checked(&mut list, &text, false, 0).is_err());
        let mut table = Unpacked::new(Listed::new(Encoding::Table, 2), false);
        assert!(checked(&mut table, &body(&[0, 1]), false, 0).is_err(), "it is no table");
    }
}
