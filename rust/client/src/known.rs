//! The seeded objects: the answers to their creation, and the bytes that were found to show them.

use crate::body::seed_name;
use crate::event::{Event, Facts, Format, digest, own_mark};
use crate::marks::{Mark, SEED};
use crate::plan::Encoding;
use crate::print::Print;
use crate::wrong::Wrong;

/// The bytes around an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// An item or a row of a list.
    Item,
    /// The object in the row of a table, whose other cells change with time.
    Object,
    /// An initial event.
    Event,
}

/// One seeded object, as its creation gave it. Everything is 0 or empty while it is unknown.
#[derive(Clone, Debug, Default)]
struct Seed {
    version: u64,
    uid: Vec<u8>,
    meta: u64,
    content: u64,
}

/// The seeded objects of a run.
#[derive(Debug, Default)]
pub(crate) struct Known {
    pub(crate) run: String,
    seeds: Vec<Seed>,
    prints: [Vec<Print>; 15],
    /// The highest version of any.
    pub(crate) newest: u64,
    /// The highest version of a list that has ended: no later list may have a lower one.
    pub(crate) listed: u64,
}

impl Known {
    /// Nothing, of a run.
    pub(crate) fn new(run: &str) -> Self {
        Self { run: run.to_owned(), ..Self::default() }
    }

    fn seed(&mut self, number: u32) -> &mut Seed {
        let number = number as usize;
        if self.seeds.len() <= number {
            self.seeds.resize_with(number + 1, Seed::default);
        }
        &mut self.seeds[number]
    }

    /// Note the answer to the creation of an object, in JSON.
    pub(crate) fn note_creation(&mut self, number: u32, answer: &[u8]) {
        let facts = Facts::of(Format::Json, answer);
        let (meta, content) = digest(Format::Json, answer).unwrap_or_default();
        *self.seed(number) = Seed { version: facts.version, uid: facts.uid.to_vec(), meta, content };
        self.newest = self.newest.max(facts.version);
    }

    fn prints(&mut self, encoding: Encoding, shape: Shape) -> &mut Vec<Print> {
        &mut self.prints[encoding as usize * 3 + shape as usize]
    }

    /// The print of the bytes that showed an object before.
    pub(crate) fn print(&self, encoding: Encoding, shape: Shape, number: u32) -> Print {
        self.prints[encoding as usize * 3 + shape as usize].get(number as usize).copied().unwrap_or_default()
    }

    /// Note that these bytes show an object.
    pub(crate) fn note_object(&mut self, encoding: Encoding, shape: Shape, number: u32, raw: &[u8]) {
        let (prints, number) = (self.prints(encoding, shape), number as usize);
        if prints.len() <= number {
            prints.resize(number + 1, Print::default());
        }
        prints[number] = Print::of(raw);
    }

    /// Check the object of an event or of a list against its creation.
    pub(crate) fn check(
        &mut self,
        encoding: Encoding,
        object: &[u8],
        facts: &Facts<'_>,
        number: u32,
    ) -> Result<(), Wrong> {
        if self.print(encoding, Shape::Object, number).size() == object.len()
            && self.print(encoding, Shape::Object, number).begins(object)
        {
            return Ok(());
        }
        let wrong = |why: String| Err(Wrong(format!("{} {why}", seed_name(number))));
        if own_mark(object) != Some(Mark { place: SEED, number, write: 0 }) {
            return wrong("is shown with the mark of another object, or without one".to_owned());
        }
        if facts.run != self.run.as_bytes() {
            return wrong("is shown without the label of its run".to_owned());
        }
        let (run, found) = (encoding.format(), digest(encoding.format(), object));
        let seen = self.print(encoding, Shape::Object, number);
        let seed = self.seed(number);
        if seed.version != 0 && seed.version != facts.version {
            return wrong(format!("has resourceVersion {}, its creation gave {}", facts.version, seed.version));
        }
        if !seed.uid.is_empty() && seed.uid != facts.uid {
            return wrong("has another uid than its creation gave".to_owned());
        }
        match found {
            Some((meta, content)) => {
                if seed.meta != 0 && seed.meta != meta
                    || encoding.has_data() && seed.content != 0 && seed.content != content
                {
                    return wrong("is shown with other content than its creation gave".to_owned());
                }
                seed.meta = meta;
                if encoding.has_data() {
                    seed.content = content;
                }
            }
            // The order of fields in protobuf is fixed.
            None if run != Format::Protobuf => return wrong("is malformed".to_owned()),
            None if seen.size() > 0 => return wrong("has other content than before".to_owned()),
            None => {}
        }
        seed.version = facts.version;
        seed.uid = facts.uid.to_vec();
        self.note_object(encoding, Shape::Object, number, object);
        Ok(())
    }

    /// Check an initial event.
    pub(crate) fn check_event(&mut self, encoding: Encoding, event: &Event<'_>, number: u32) -> Result<(), Wrong> {
        // The object of an event has its kind, that of a list has none.
        if encoding.format() == Format::Protobuf {
            return self.check(encoding, event.object, &event.facts, number);
        }
        let before = self.print(encoding, Shape::Object, number);
        let checked = self.check(encoding, event.object, &event.facts, number);
        if before.size() > 0 {
            // Lists are more frequent than starts: theirs stays.
            self.prints(encoding, Shape::Object)[number as usize] = before;
        }
        checked
    }
}
