//! Lists, checked as their bytes arrive.

use flate2::write::GzDecoder;

use crate::body::{churn_name, seed_name};
use crate::event::{Facts, data_mark, get, list_text, name, own_mark, string};
use crate::known::Shape;
use crate::marks::{CHURN, Mark};
use crate::pieces::{Items, Pieces};
use crate::plan::{Encoding, Resource};
use crate::print::Print;
use crate::world::World;
use crate::wrong::Wrong;

/// The objects of one list, each once and in order.
#[derive(Debug)]
pub(crate) struct Listed {
    encoding: Encoding,
    pieces: Pieces,
    place: Place,
    /// The objects of writers that were listed, on all pages.
    churn: Vec<u32>,
    pub(crate) size: u64,
}

/// How far a list is.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// The number of the seeded object that is due.
    next: u32,
    last_churn: Option<u32>,
    /// The difference of the numbers of two objects that follow each other.
    stride: u32,
}

/// A list that takes its objects.
struct Taking<'a> {
    encoding: Encoding,
    place: &'a mut Place,
    churn: &'a mut Vec<u32>,
    world: &'a mut World,
}

impl Items for Taking<'_> {
    fn due(&self) -> Print {
        self.world.known.print(self.encoding, Shape::Item, self.place.next)
    }

    fn take_known(&mut self, raw: &[u8]) -> Result<bool, Wrong> {
        if self.due().begins(raw) && self.place.next < self.world.plan.objects {
            self.place.next += self.place.stride;
            return Ok(true);
        }
        Ok(false)
    }

    fn item(&mut self, raw: &[u8]) -> Result<(), Wrong> {
        let encoding = self.encoding;
        let format = encoding.format();
        let at = || seed_name(self.place.next);
        let object = if encoding == Encoding::Table { get(format, raw, ("object", 0)) } else { Some(raw) };
        let object = object.ok_or_else(|| Wrong(format!("a row without an object in the place of {}", at())))?;
        let facts = Facts::of(format, object);
        if encoding == Encoding::Table && cell(raw) != Some(facts.name) {
            let (name, cell) = (name(facts.name), cell(raw).map(name).unwrap_or_default());
            return Err(Wrong(format!("the row of {name} shows {cell:?} as its name")));
        }
        let mark = own_mark(object);
        // A list of all namespaces has those of other runs; one without its label is then missing.
        if self.world.plan.spread > 1 && facts.run != self.world.plan.run.as_bytes() {
            return Ok(());
        }
        match split_name(facts.name) {
            Some((b"bench-", number)) => {
                Self::namespace(&facts, &self.world.plan.namespace_of(number))?;
                due(self.place, number, self.world.plan.objects)?;
                self.world.known.check(encoding, object, &facts, number)?;
                self.world.known.note_object(encoding, Shape::Item, number, raw);
                Ok(())
            }
            Some((b"churn-", number)) => {
                Self::namespace(&facts, &self.world.plan.namespace)?;
                self.churn(object, &facts, mark, number)
            }
            _ if mark.is_some() || !facts.run.is_empty() && facts.run == self.world.plan.run.as_bytes() => {
                Err(Wrong(format!("{} is listed in the place of {} and was never made", name(facts.name), at())))
            }
            // An object of others.
            _ => Ok(()),
        }
    }
}

impl Taking<'_> {
    fn namespace(facts: &Facts<'_>, wanted: &str) -> Result<(), Wrong> {
        if facts.namespace == wanted.as_bytes() {
            return Ok(());
        }
        Err(Wrong(format!("{} is listed in namespace {:?}", name(facts.name), name(facts.namespace))))
    }

    /// Check an object that writers change.
    fn churn(&mut self, object: &[u8], facts: &Facts<'_>, mark: Option<Mark>, number: u32) -> Result<(), Wrong> {
        let name = churn_name(number);
        if self.place.last_churn.is_some_and(|last| number <= last) {
            return Err(Wrong(format!("{name} is listed twice or out of order")));
        }
        self.place.last_churn = Some(number);
        self.churn.push(number);
        let Some(mark) = mark.filter(|mark| (mark.place, mark.number) == (CHURN, number)) else {
            return Err(Wrong(format!("{name} is listed with the mark of another object, or without one")));
        };
        let data = data_mark(object, mark).map(|data| (data.number, data.write <= mark.write));
        if self.encoding.has_data() && (data != Some((number, true)) || !self.world.filled(object, facts)) {
            return Err(Wrong(format!("{name} is listed with other data than was written")));
        }
        self.world.ledger.check_listed(mark, facts.version, self.world.plan.resource == Resource::Pods)
    }
}

/// The first cell of a row: the name.
fn cell(row: &[u8]) -> Option<&[u8]> {
    let json = crate::event::Format::Json;
    string(json, crate::event::first(json, get(json, row, ("cells", 0))?)?)
}

/// Prefix and number of the name of an object of ours.
fn split_name(name: &[u8]) -> Option<(&[u8], u32)> {
    let (prefix, digits) = name.split_at_checked(6)?;
    let number = digits.iter().all(u8::is_ascii_digit).then(|| std::str::from_utf8(digits).ok())??;
    (digits.len() >= 8).then_some((prefix, number.parse().ok()?))
}

impl Listed {
    pub(crate) fn new(encoding: Encoding) -> Self {
        let place = Place { stride: 1, ..Place::default() };
        Self { encoding, pieces: Pieces::new(encoding.format()), place, churn: Vec::new(), size: 0 }
    }

    /// Expect only the objects whose numbers are multiples of this.
    pub(crate) fn every(mut self, stride: u32) -> Self {
        self.place.stride = stride.max(1);
        self
    }

    /// Expect another list, which begins with this object.
    pub(crate) fn restart(&mut self, from: u32) {
        self.pieces.restart();
        self.place = Place { next: from, last_churn: None, stride: self.place.stride };
        if from == 0 {
            self.churn.clear();
        }
        self.size = 0;
    }

    /// Check that the list, with its pages before, holds what was there all the time since the first request.
    pub(crate) fn complete(&self, world: &World, sent: u64, version: u64) -> Result<(), Wrong> {
        let lost = crate::presence::missing(&world.ledger.objects, &self.churn, (sent, version));
        lost.map_or(Ok(()), |number| {
            Err(Wrong(format!("{} is missing, though it was written before the request", churn_name(number))))
        })
    }

    /// The number of the next object.
    pub(crate) fn position(&self) -> u32 {
        self.place.next
    }

    /// A text of the metadata of the list.
    pub(crate) fn text(&self, wanted: &'static str) -> Option<String> {
        list_text(self.encoding.format(), &self.pieces.meta, wanted)
    }

    pub(crate) fn feed(&mut self, world: &mut World, piece: &[u8]) -> Result<(), Wrong> {
        self.size += piece.len() as u64;
        let mut taking = Taking { encoding: self.encoding, place: &mut self.place, churn: &mut self.churn, world };
        let fed = self.pieces.feed(piece, &mut taking);
        fed.map_err(|Wrong(why)| if why.contains("-0") { Wrong(why) } else { self.at(&why) })
    }

    /// An error, with the object that is due.
    fn at(&self, why: &str) -> Wrong {
        Wrong(format!("{why}, at {}", seed_name(self.place.next)))
    }

    /// Check that the body is whole; unless there are more pages, all objects have come.
    pub(crate) fn finish(&self, world: &World, more: bool) -> Result<(), Wrong> {
        if !self.pieces.over() {
            return Err(self.at("a list that is cut off"));
        }
        let kind = self.encoding.list_kind(world.plan.resource);
        if self.pieces.kind != kind.as_bytes() {
            return Err(self.at(&format!("a list that is no {kind}")));
        }
        if !more && self.place.next < world.plan.objects {
            return Err(Wrong(format!("{} is missing, and all after it", seed_name(self.place.next))));
        }
        Ok(())
    }
}

fn due(place: &mut Place, number: u32, objects: u32) -> Result<(), Wrong> {
    let next = &mut place.next;
    if number == *next && number < objects {
        *next += place.stride;
        return Ok(());
    }
    let (found, wanted) = (seed_name(number), seed_name(*next));
    Err(Wrong(if number >= objects {
        let place = if *next < objects { format!(" in the place of {wanted}") } else { String::new() };
        format!("{found} is listed{place} and was never made")
    } else if number > *next {
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
    /// The version of the last body that was checked.
    version: String,
}

impl Unpacked {
    pub(crate) fn new(listed: Listed, compares: bool) -> Self {
        let (known, current) = (Vec::new(), Vec::new());
        Self {
            listed,
            compares,
            packed: false,
            decoder: None,
            known,
            same: None,
            current,
            size: 0,
            version: String::new(),
        }
    }

    /// Expect a body.
    pub(crate) fn begin(&mut self, packed: bool, from: u32) {
        self.listed.restart(from);
        self.packed = packed;
        self.size = 0;
        self.decoder = None;
        self.current.clear();
        self.same = (packed && self.compares && !self.known.is_empty()).then_some(0);
    }

    /// Take a piece.
    pub(crate) fn feed(&mut self, world: &mut World, piece: &[u8]) -> Result<(), Wrong> {
        self.size += piece.len() as u64;
        if !self.packed {
            return self.listed.feed(world, piece);
        }
        if let Some(at) = self.same {
            if self.known.get(at..at + piece.len()) == Some(piece) {
                self.same = Some(at + piece.len());
                return Ok(());
            }
            self.same = None;
            let known = std::mem::take(&mut self.known);
            self.unpack(world, &known[..at])?;
            self.known = known;
        }
        self.unpack(world, piece)
    }

    fn unpack(&mut self, world: &mut World, piece: &[u8]) -> Result<(), Wrong> {
        use std::io::Write;
        if self.compares {
            self.current.extend_from_slice(piece);
        }
        let decoder = self.decoder.get_or_insert_with(|| GzDecoder::new(Vec::with_capacity(64 << 10)));
        // Pieces keep the unpacked text small.
        for part in piece.chunks(16 << 10) {
            if let Err(e) = decoder.write_all(part) {
                return Err(self.listed.at(&format!("a packed list: {e}")));
            }
            self.listed.feed(world, decoder.get_ref())?;
            decoder.get_mut().clear();
        }
        Ok(())
    }

    /// Check the body; whether it was the same as the one before.
    pub(crate) fn finish(&mut self, world: &mut World, more: bool) -> Result<bool, Wrong> {
        if !self.packed {
            self.complete(world, more)?;
            return Ok(false);
        }
        match self.same {
            Some(at) if at == self.known.len() => return Ok(true),
            Some(at) => {
                let known = std::mem::take(&mut self.known);
                self.unpack(world, &known[..at])?;
            }
            None => {}
        }
        let Some(mut decoder) = self.decoder.take() else { return Err(self.listed.at("an empty packed list")) };
        // The rest of the text precedes the fault at its end.
        let ended = decoder.try_finish();
        let rest = std::mem::take(decoder.get_mut());
        self.listed.feed(world, &rest)?;
        ended.map_err(|e| self.listed.at(&format!("a packed list: {e}")))?;
        self.complete(world, more)?;
        std::mem::swap(&mut self.known, &mut self.current);
        Ok(false)
    }

    fn complete(&mut self, world: &World, more: bool) -> Result<(), Wrong> {
        self.listed.finish(world, more)?;
        self.version = self.listed.text("resourceVersion").unwrap_or_default();
        Ok(())
    }

    /// The version of the list. It is not lower than that of any object, nor than this one.
    pub(crate) fn version(&self, world: &World, least: u64) -> Result<u64, Wrong> {
        let (text, at) = (&self.version, seed_name(self.listed.position().saturating_sub(1)));
        let version = text.parse().map_err(|_| Wrong(format!("the list up to {at} has resourceVersion {text:?}")))?;
        let least = least.max(world.known.newest);
        if version < least {
            return Err(Wrong(format!("the list up to {at} has resourceVersion {version} after {least}")));
        }
        Ok(version)
    }
}

#[cfg(test)]
mod tests;
