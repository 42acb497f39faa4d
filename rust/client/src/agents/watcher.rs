//! A watcher of the collection, or of one object of it.

use super::reader::{check_media, skip};
use crate::agent::{Agent, Flow, Next};
use crate::board::{Place, churn_name};
use crate::event::{Event, Kind, Splitter};
use crate::http::Head;
use crate::marks::{CHURN, Mark};
use crate::plan::Resource;
use crate::target::Request;
use crate::world::{Timing, World};
use crate::wrong::Wrong;

pub(super) struct Watcher {
    part: usize,
    /// The object to watch.
    watched: Option<u32>,
    /// The version to go on from, also after events that are not ours.
    version: u64,
    place: Place,
    splitter: Option<Splitter>,
    has_data: bool,
}

impl Watcher {
    pub(super) fn new(part: usize, world: &World, watched: Option<u32>, from: u64) -> Self {
        let encoding = world.plan.encoding;
        let splitter = Some(Splitter::new(encoding.format()));
        Self { part, watched, version: from, place: Place::default(), splitter, has_data: encoding.has_data() }
    }

    fn take(&mut self, world: &mut World, event: &Event<'_>) -> Result<(), Wrong> {
        if event.version < self.version {
            let name = event.mark.map_or("an object that is not ours".to_owned(), |mark| churn_name(mark.number));
            let (before, version) = (self.version, event.version);
            return Err(Wrong(format!("the event of {name} has resourceVersion {version} after {before}")));
        }
        let mark = match event.mark {
            Some(mark @ Mark { place: CHURN, .. }) if event.kind != Kind::Bookmark => mark,
            _ => {
                self.version = event.version;
                return Ok(());
            }
        };
        let write = match self.watched {
            None => world.board.shared(&mut self.place, event, mark)?,
            Some(number) => world.board.own(&mut self.place, number, event, mark)?,
        };
        self.version = event.version;
        if self.has_data && !event.whole(world.plan.resource == Resource::Pods) {
            return Err(Wrong(format!("the event of {} has not its data", churn_name(mark.number))));
        }
        let now = world.now;
        let figures = &mut world.figures[self.part];
        figures.ops += 1;
        figures.last = now;
        let lag = now.saturating_sub(write.sent);
        figures.lag_sent.add(lag);
        figures.lag_acked.add(if write.acked == 0 { 0 } else { now.saturating_sub(write.acked) });
        world.recent.add(lag);
        Ok(())
    }
}

impl Agent for Watcher {
    fn next(&mut self, world: &mut World, out: &mut Vec<u8>) -> Next {
        if world.skipped.is_some() {
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

    fn early(&self) -> bool {
        true
    }

    fn waits(&self) -> bool {
        true
    }

    fn head(&mut self, world: &mut World, head: &Head) -> Result<(), Wrong> {
        check_media(world, head)
    }

    fn body(&mut self, world: &mut World, piece: &[u8]) -> Result<Flow, Wrong> {
        let Some(mut splitter) = self.splitter.take() else { return Ok(Flow::More) };
        world.board.moved = world.now;
        let taken = splitter.feed(piece, |event| self.take(world, &event));
        self.splitter = Some(splitter);
        taken.map(|()| Flow::More)
    }

    fn end(&mut self, world: &mut World, _: Timing) -> Result<(), Wrong> {
        // The server ended the watch: it is opened again at its last version.
        world.reconnects += 1;
        Ok(())
    }

    fn refused(&mut self, world: &mut World, status: u16, body: &[u8]) -> Result<(), Wrong> {
        skip(world, "watch", status, body)
    }

    fn satisfied(&self, world: &World) -> bool {
        match self.watched {
            None => world.board.due().is_some_and(|due| self.place.count >= due),
            Some(number) => self.place.count >= world.board.due_of(number),
        }
    }

    fn missing(&self, world: &World) -> String {
        match self.watched {
            None => world.board.missing(&self.place),
            Some(number) => format!("the event of {}, write {}, is lost", churn_name(number), self.place.count),
        }
    }

    fn name(&self) -> String {
        "watch".to_owned()
    }
}
