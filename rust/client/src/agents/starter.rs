//! One informer of a controller manager: all start together, and again once the last of them has started.

use super::reader::{check_media, skip};
use crate::agent::{Agent, Flow, Next};
use crate::event::{Format, Kind, Sink, Splitter, read};
use crate::http::Head;
use crate::print::Print;
use crate::target::Request;
use crate::world::{Timing, World};
use crate::wrong::Wrong;

const END: &[u8] = b"k8s.io/initial-events-end";
/// How soon an informer that waits for the others looks again.
const LOOK: u64 = 1_000_000;

pub(super) struct Starter {
    part: usize,
    path: String,
    splitter: Splitter,
    /// The rounds that it has done.
    done: u64,
    events: Events,
}

/// The initial events of one start.
struct Events {
    format: Format,
    count: u64,
    complete: bool,
}

impl Sink for Events {
    fn due(&self) -> Print {
        Print::default()
    }

    fn take_known(&mut self, _: &[u8]) -> Result<bool, Wrong> {
        Ok(false)
    }

    fn event(&mut self, raw: &[u8]) -> Result<(), Wrong> {
        if self.complete {
            return Ok(());
        }
        let event = read(self.format, raw)?;
        match event.kind {
            Kind::Bookmark => self.complete = memchr::memmem::find(event.raw, END).is_some(),
            Kind::Added => self.count += 1,
            _ => return Err(Wrong("an initial event that is no ADDED".to_owned())),
        }
        Ok(())
    }
}

impl Starter {
    pub(super) fn new(part: usize, world: &World, path: &str) -> Self {
        let format = world.plan.encoding.format();
        let events = Events { format, count: 0, complete: false };
        Self { part, path: path.to_owned(), splitter: Splitter::new(format), done: 0, events }
    }

    /// An informer has started; the last one of a round ends it.
    fn finish(&mut self, world: &mut World) {
        self.done += 1;
        world.round.done += 1;
        world.round.objects += self.events.count;
        if world.round.done < world.round.members {
            return;
        }
        let objects = world.round.objects;
        let began = world.round.began.take().unwrap_or(world.now);
        (world.round.done, world.round.objects) = (0, 0);
        world.round.number += 1;
        world.tick();
        world.count_operation(self.part, Timing { sent: began, first: began }, objects);
    }
}

impl Agent for Starter {
    fn next(&mut self, world: &mut World, out: &mut Vec<u8>) -> Next {
        if world.skipped.is_some() {
            return Next::Done;
        }
        if self.done > world.round.number {
            return Next::At(world.now + LOOK);
        }
        if world.round.began.is_none() {
            if world.over() && self.done > 0 {
                return Next::Done;
            }
            world.round.began = Some(world.now);
        }
        self.splitter.clear();
        (self.events.count, self.events.complete) = (0, false);
        let query = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=600";
        let path = format!("{}?{query}", self.path);
        let accept = world.plan.encoding.watch();
        world.target.write(&Request { method: "GET", path: &path, accept, gzip: false, body: None }, out);
        Next::Send
    }

    fn reconnects(&self) -> bool {
        true
    }

    fn head(&mut self, world: &mut World, head: &Head) -> Result<(), Wrong> {
        check_media(world, head)
    }

    fn body(&mut self, world: &mut World, piece: &[u8]) -> Result<Flow, Wrong> {
        let at = |Wrong(why)| Wrong(format!("{why}, in the watch of {}", self.path));
        self.splitter.split(piece, &mut self.events).map_err(at)?;
        if !self.events.complete {
            return Ok(Flow::More);
        }
        self.finish(world);
        Ok(Flow::Leave)
    }

    fn end(&mut self, _: &mut World, _: Timing) -> Result<(), Wrong> {
        Err(Wrong(format!("the initial events of {} ended before their bookmark", self.path)))
    }

    fn refuse(&mut self, world: &mut World, status: u16, body: &[u8]) -> Result<(), Wrong> {
        if matches!(status, 400 | 422) {
            world.skipped = Some("the server has no initial events".to_owned());
            return Ok(());
        }
        skip(world, &format!("the watch of {}", self.path), status, body)
    }

    fn name(&self) -> String {
        "manager".to_owned()
    }
}
