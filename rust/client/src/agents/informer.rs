//! An informer that starts, again and again: by initial events, or by a list and a watch where the server has none.

use super::reader::{check_media, skip};
use crate::agent::{Agent, Flow, Next};
use crate::body::seed_name;
use crate::check::{Listed, Unpacked};
use crate::clock::of_seconds;
use crate::event::{Kind, Sink, Splitter, name, read};
use crate::http::Head;
use crate::known::Shape;
use crate::marks::{Mark, SEED};
use crate::print::Print;
use crate::target::Request;
use crate::world::{Ticket, Timing, World};
use crate::wrong::Wrong;

const END: &[u8] = b"k8s.io/initial-events-end";
/// How long a server that has sent all objects may take for the bookmark, before it counts as one that sends none.
const PATIENCE: f64 = 3.0;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Events,
    List,
    Watch,
}

pub(super) struct Informer {
    part: usize,
    path: String,
    objects: u32,
    has_data: bool,
    stage: Stage,
    splitter: Splitter,
    seen: Vec<bool>,
    count: u32,
    /// The object of the last event, and the first that came before one of an earlier name.
    last: Option<u32>,
    descents: u32,
    early: u32,
    complete: bool,
    moved: u64,
    list: Unpacked,
    /// The version of the list, and the one that list and events may not go below.
    version: u64,
    least: u64,
    began: Option<Timing>,
    /// When the start is due that is next or under way, where there is a rate.
    due: Option<u64>,
    done: u64,
}

impl Informer {
    pub(super) fn new(part: usize, world: &World) -> Self {
        let plan = &world.plan;
        Self {
            part,
            path: plan.collection(),
            objects: plan.objects,
            has_data: plan.encoding.has_data(),
            stage: Stage::Events,
            splitter: Splitter::new(plan.encoding.format()),
            seen: Vec::new(),
            count: 0,
            last: None,
            descents: 0,
            early: 0,
            complete: false,
            moved: 0,
            list: Unpacked::new(Listed::new(plan.encoding), false),
            version: 0,
            least: 0,
            began: None,
            due: None,
            done: 0,
        }
    }

    /// The object whose event is due, if events are ordered by name.
    fn next_number(&self) -> u32 {
        self.last.map_or(0, |last| last + 1)
    }

    fn take(&mut self, world: &mut World, raw: &[u8]) -> Result<(), Wrong> {
        if self.complete {
            return Ok(());
        }
        let encoding = world.plan.encoding;
        let at = |Wrong(why)| Wrong(format!("{why}, at {}", seed_name(self.next_number())));
        let event = read(encoding.format(), raw).map_err(at)?;
        if event.kind == Kind::Bookmark {
            if memchr::memmem::find(event.raw, END).is_none() {
                return Ok(());
            }
            if let Some(lost) = self.seen.iter().position(|seen| !seen) {
                return Err(Wrong(format!("the initial event of {} is lost", seed_name(lost as u32))));
            }
            // Servers send initial events by name or in no order at all.
            if self.descents > 0 && self.descents < self.objects.div_ceil(4).max(2) {
                return Err(Wrong(format!("the initial event of {} came out of order", seed_name(self.early))));
            }
            let least = self.least.max(world.known.newest);
            if event.version < least {
                let (version, last) = (event.version, seed_name(self.objects.saturating_sub(1)));
                return Err(Wrong(format!("the bookmark after {last} has resourceVersion {version} after {least}")));
            }
            world.known.listed = world.known.listed.max(event.version);
            self.complete = true;
            return Ok(());
        }
        let number = match event.mark {
            Some(Mark { place: SEED, number, .. }) => number,
            None if event.facts.name.starts_with(b"bench-0") || event.facts.run == world.plan.run.as_bytes() => {
                let name = name(event.facts.name);
                return Err(Wrong(format!("the initial event of {name} has not its mark")));
            }
            _ => return Ok(()),
        };
        let called = || seed_name(number);
        if event.facts.name != called().as_bytes() {
            let (found, marked) = (name(event.facts.name), called());
            return Err(Wrong(format!("the initial event of {found} has the mark of {marked}")));
        }
        match self.seen.get_mut(number as usize) {
            _ if event.kind != Kind::Added => {
                return Err(Wrong(format!("the initial event of {} is no ADDED", called())));
            }
            None => return Err(Wrong(format!("an initial event of {}, which was never made", called()))),
            Some(true) => return Err(Wrong(format!("the initial event of {} came twice", called()))),
            Some(seen) => *seen = true,
        }
        if self.has_data && !event.whole(false) {
            return Err(Wrong(format!("the initial event of {} has not its data", called())));
        }
        world.known.check_event(encoding, &event, number)?;
        world.known.note_object(encoding, Shape::Event, number, raw);
        self.came(number);
        Ok(())
    }

    fn came(&mut self, number: u32) {
        if let Some(last) = self.last.filter(|&last| last > number) {
            self.descents += 1;
            if self.descents == 1 {
                self.early = last;
            }
        }
        self.last = Some(number);
        self.count += 1;
    }

    fn finish(&mut self, world: &mut World, first: u64) {
        let sent = self.began.take().map_or(first, |timing| timing.sent);
        world.tick();
        world.count_operation(self.part, Timing { sent, first }, u64::from(self.objects));
        world.figures[self.part].unordered += u64::from(self.descents > 0);
        self.done += 1;
        self.due = None;
    }

    fn restart(&mut self) {
        self.splitter.clear();
        self.seen.clear();
        self.seen.resize(self.objects as usize, false);
        (self.count, self.last, self.descents, self.complete) = (0, None, 0, false);
    }
}

/// An informer that takes events.
struct Taking<'a> {
    informer: &'a mut Informer,
    world: &'a mut World,
}

impl Sink for Taking<'_> {
    fn due(&self) -> Print {
        let (world, informer) = (&self.world, &self.informer);
        if informer.complete {
            Print::default()
        } else {
            world.known.print(world.plan.encoding, Shape::Event, informer.next_number())
        }
    }

    fn take_known(&mut self, raw: &[u8]) -> Result<bool, Wrong> {
        let number = self.informer.next_number();
        match self.informer.seen.get_mut(number as usize) {
            Some(seen)
                if !*seen && self.world.known.print(self.world.plan.encoding, Shape::Event, number).begins(raw) =>
            {
                *seen = true;
            }
            _ => return Ok(false),
        }
        self.informer.came(number);
        Ok(true)
    }

    fn event(&mut self, raw: &[u8]) -> Result<(), Wrong> {
        self.informer.take(self.world, raw)
    }
}

impl Agent for Informer {
    fn next(&mut self, world: &mut World, out: &mut Vec<u8>) -> Next {
        if world.over() && (self.done > 0 || world.skipped.is_some()) {
            return Next::Done;
        }
        if world.initial_events == Some(false) && self.stage == Stage::Events {
            self.stage = Stage::List;
        }
        let due = match world.ticket(self.part, &mut self.due) {
            Ticket::Due(due) => due,
            Ticket::At(due) => return Next::At(due),
            Ticket::Over => return Next::Done,
        };
        self.moved = world.now;
        self.least = world.known.listed;
        let encoding = world.plan.encoding;
        let (path, accept) = match self.stage {
            Stage::Events => {
                self.restart();
                let query = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=600";
                (format!("{}?{query}", self.path), encoding.watch())
            }
            Stage::List => (self.path.clone(), encoding.list()),
            Stage::Watch => {
                let query =
                    format!("watch=1&allowWatchBookmarks=true&timeoutSeconds=600&resourceVersion={}", self.version);
                (format!("{}?{query}", self.path), encoding.watch())
            }
        };
        if self.stage != Stage::Watch {
            self.began = Some(Timing { sent: due, first: 0 });
        }
        let gzip = world.plan.gzip && self.stage == Stage::List;
        world.target.write(&Request { method: "GET", path: &path, accept, gzip, body: None }, out);
        Next::Send
    }

    fn reconnects(&self) -> bool {
        true
    }

    fn head(&mut self, world: &mut World, head: &Head) -> Result<(), Wrong> {
        check_media(world, head)?;
        match self.stage {
            Stage::Events if head.gzip => Err(Wrong("a packed watch".to_owned())),
            Stage::Events => Ok(()),
            Stage::List => {
                self.list.begin(head.gzip, 0);
                Ok(())
            }
            Stage::Watch => {
                self.stage = Stage::List;
                self.complete = true;
                self.finish(world, world.now);
                Ok(())
            }
        }
    }

    fn body(&mut self, world: &mut World, piece: &[u8]) -> Result<Flow, Wrong> {
        if self.stage == Stage::List {
            if self.complete {
                // The watch that follows a list.
                self.complete = false;
                return Ok(Flow::Leave);
            }
            return self.list.feed(world, piece).map(|()| Flow::More);
        }
        if let Some(timing) = self.began.as_mut().filter(|timing| timing.first == 0) {
            timing.first = world.now;
        }
        self.moved = world.now;
        let mut splitter = std::mem::replace(&mut self.splitter, Splitter::new(world.plan.encoding.format()));
        let taken = splitter.split(piece, &mut Taking { informer: self, world });
        self.splitter = splitter;
        taken?;
        if !self.complete {
            return Ok(Flow::More);
        }
        world.initial_events = Some(true);
        let first = self.began.map_or(world.now, |timing| timing.first);
        self.finish(world, first);
        Ok(Flow::Leave)
    }

    fn end(&mut self, world: &mut World, timing: Timing) -> Result<(), Wrong> {
        if self.stage != Stage::List {
            let at = seed_name(self.next_number());
            return Err(Wrong(format!("the initial events ended before their bookmark, at {at}")));
        }
        self.list.finish(world, false)?;
        self.version = self.list.version(world, self.least)?;
        world.known.listed = world.known.listed.max(self.version);
        self.stage = Stage::Watch;
        self.began = Some(Timing { sent: self.began.map_or(timing.sent, |began| began.sent), first: timing.first });
        Ok(())
    }

    fn refuse(&mut self, world: &mut World, status: u16, body: &[u8]) -> Result<(), Wrong> {
        if self.stage == Stage::Events && matches!(status, 400 | 403 | 422) {
            world.initial_events = Some(false);
            return Ok(());
        }
        skip(world, "informer", status, body)
    }

    fn lose(&mut self, _: &mut World) {
        self.complete = false;
        if self.stage == Stage::Watch {
            self.stage = Stage::List;
        }
    }

    fn idle(&mut self, world: &mut World) -> Result<Flow, Wrong> {
        if self.stage == Stage::List && self.complete {
            // The watch is open and has no events.
            self.complete = false;
            return Ok(Flow::Leave);
        }
        let waits = self.stage == Stage::Events && world.now.saturating_sub(self.moved) > of_seconds(PATIENCE);
        if waits && self.count == self.objects && world.initial_events.is_none() {
            world.initial_events = Some(false);
            return Ok(Flow::Leave);
        }
        let limit = of_seconds(world.plan.patience.max(PATIENCE * 2.0));
        if self.stage == Stage::Events && world.now.saturating_sub(self.moved) > limit {
            let lost = self.seen.iter().position(|seen| !seen);
            let what = lost.map_or("the bookmark after the initial events".to_owned(), |lost| {
                format!("the initial event of {}", seed_name(lost as u32))
            });
            return Err(Wrong(format!("{what} is lost")));
        }
        Ok(Flow::More)
    }

    fn name(&self) -> String {
        "informer".to_owned()
    }
}
