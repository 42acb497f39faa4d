//! A watcher of the collection, or of one object of it.

use super::reader::{check_media, skip};
use crate::agent::{Agent, Flow, Next};
use crate::body::churn_name;
use crate::event::{Event, Kind, Sink, Splitter, name, read};
use crate::http::Head;
use crate::ledger::{Place, Write};
use crate::marks::{CHURN, Mark};
use crate::plan::Resource;
use crate::print::Print;
use crate::target::Request;
use crate::world::{Timing, World};
use crate::wrong::Wrong;

/// How a watcher reads its events.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// As they happen.
    Live,
    /// Again, once all is over. Nothing of it counts, and a server that has forgotten the past is excused.
    Again,
}

pub(super) struct Watcher {
    part: usize,
    way: Way,
    /// The object to watch.
    watched: Option<u32>,
    /// The version to go on from, also after events that are not ours.
    version: u64,
    place: Place,
    splitter: Option<Splitter>,
    has_data: bool,
    /// Whether the past cannot be read again.
    forgotten: bool,
}

/// A watcher that takes events.
struct Taking<'a> {
    watcher: &'a mut Watcher,
    world: &'a mut World,
}

impl Sink for Taking<'_> {
    fn due(&self) -> Print {
        match self.watcher.watched {
            None => self.world.ledger.due_print(&self.watcher.place),
            Some(_) => Print::default(),
        }
    }

    fn take_known(&mut self, raw: &[u8]) -> Result<bool, Wrong> {
        if !self.due().begins(raw) {
            return Ok(false);
        }
        let (write, version) = self.world.ledger.take_due(&mut self.watcher.place);
        self.watcher.version = version;
        self.watcher.count(self.world, &write);
        Ok(true)
    }

    fn event(&mut self, raw: &[u8]) -> Result<(), Wrong> {
        let (watcher, world) = (&mut *self.watcher, &mut *self.world);
        if watcher.way == Way::Again && memchr::memmem::find(&raw[..raw.len().min(300)], b"ERROR").is_some() {
            watcher.forgotten = true;
            return Ok(());
        }
        let event = read(world.plan.encoding.format(), raw).map_err(|Wrong(why)| match watcher.watched {
            Some(number) => Wrong(format!("{why}, in the watch of {}", churn_name(number))),
            None => Wrong(format!("{why}, {}", world.ledger.due_name(&watcher.place))),
        })?;
        watcher.take(world, &event)
    }
}

impl Watcher {
    pub(super) fn new(part: usize, world: &World, way: Way, watched: Option<u32>, from: u64) -> Self {
        let encoding = world.plan.encoding;
        let splitter = Some(Splitter::new(encoding.format()));
        let (place, has_data) = (Place::default(), encoding.has_data());
        Self { part, way, watched, version: from, place, splitter, has_data, forgotten: false }
    }

    fn take(&mut self, world: &mut World, event: &Event<'_>) -> Result<(), Wrong> {
        let called = || event.mark.map_or_else(|| name(event.facts.name), |mark| churn_name(mark.number));
        if event.version < self.version {
            let (name, before, version) = (called(), self.version, event.version);
            return Err(Wrong(format!("the event of {name} has resourceVersion {version} after {before}")));
        }
        let mark = match event.mark {
            Some(mark @ Mark { place: CHURN, .. }) if event.kind != Kind::Bookmark => mark,
            None if !event.facts.run.is_empty() && event.facts.run == world.plan.run.as_bytes() => {
                return Err(Wrong(format!("the event of {} has not its mark", called())));
            }
            _ => {
                self.version = event.version;
                return Ok(());
            }
        };
        if event.facts.name != churn_name(mark.number).as_bytes() {
            let (name, found) = (called(), name(event.facts.name));
            return Err(Wrong(format!("the event of {name} shows it as {found}")));
        }
        if event.facts.namespace != world.plan.namespace.as_bytes() {
            let (name, found) = (called(), name(event.facts.namespace));
            return Err(Wrong(format!("the event of {name} shows namespace {found:?}")));
        }
        let write = match self.watched {
            None => world.ledger.check_event(&mut self.place, event, mark)?,
            Some(number) => world.ledger.own(&mut self.place, number, event, mark)?,
        };
        self.version = event.version;
        let whole = event.whole(world.plan.resource == Resource::Pods) && world.filled(event.object, &event.facts);
        if self.has_data && !whole {
            return Err(Wrong(format!("the event of {} has not its data", called())));
        }
        self.count(world, &write);
        Ok(())
    }

    fn count(&self, world: &mut World, write: &Write) {
        if self.way == Way::Again {
            return;
        }
        let now = world.now;
        let figures = &mut world.figures[self.part];
        figures.ops += 1;
        figures.last = now;
        let lag = now.saturating_sub(write.sent);
        figures.lag_sent.add(lag);
        figures.lag_acked.add(if write.acked == 0 { 0 } else { now.saturating_sub(write.acked) });
        world.recent.add(lag);
    }
}

impl Agent for Watcher {
    fn next(&mut self, world: &mut World, out: &mut Vec<u8>) -> Next {
        if world.skipped.is_some() || self.forgotten {
            return Next::Done;
        }
        if let Some(splitter) = &mut self.splitter {
            splitter.clear();
        }
        let mut path =
            format!("{}?watch=1&resourceVersion={}&timeoutSeconds=3600", world.plan.collection(), self.version);
        if let Some(number) = self.watched {
            path = format!("{path}&fieldSelector=metadata.name%3D{}", churn_name(number));
        }
        let accept = world.plan.encoding.watch();
        world.target.write(&Request { method: "GET", path: &path, accept, gzip: false, body: None }, out);
        Next::Send
    }

    fn runs_before_measurement(&self) -> bool {
        self.way == Way::Live
    }

    fn runs_after_measurement(&self) -> bool {
        self.way == Way::Again
    }

    fn waits(&self) -> bool {
        true
    }

    fn head(&mut self, world: &mut World, head: &Head) -> Result<(), Wrong> {
        check_media(world, head)
    }

    fn body(&mut self, world: &mut World, piece: &[u8]) -> Result<Flow, Wrong> {
        let Some(mut splitter) = self.splitter.take() else { return Ok(Flow::More) };
        world.ledger.moved = world.now;
        let taken = splitter.split(piece, &mut Taking { watcher: self, world });
        self.splitter = Some(splitter);
        taken.map(|()| if self.forgotten { Flow::Leave } else { Flow::More })
    }

    fn end(&mut self, world: &mut World, _: Timing) -> Result<(), Wrong> {
        // The server ended the watch: it is opened again at its last version.
        if self.way == Way::Live {
            world.reconnects += 1;
        }
        Ok(())
    }

    fn refuse(&mut self, world: &mut World, status: u16, body: &[u8]) -> Result<(), Wrong> {
        if self.way == Way::Again && status == 410 {
            self.forgotten = true;
            return Ok(());
        }
        skip(world, "watch", status, body)
    }

    fn satisfied(&self, world: &World) -> bool {
        match self.watched {
            None if self.forgotten => true,
            None => world.ledger.due().is_some_and(|due| self.place.count >= due),
            Some(number) => self.place.count >= world.ledger.due_of(number),
        }
    }

    fn missing(&self, world: &World) -> String {
        match self.watched {
            None => world.ledger.missing(&self.place),
            Some(number) => format!("the event of {}, write {}, is lost", churn_name(number), self.place.count),
        }
    }

    fn name(&self) -> String {
        if self.way == Way::Again { "replay" } else { "watch" }.to_owned()
    }
}
