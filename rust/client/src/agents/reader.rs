//! A reader of whole lists.

use crate::agent::{Agent, Flow, Next};
use crate::check::{Listed, Unpacked};
use crate::event::excerpt;
use crate::http::Head;
use crate::target::Request;
use crate::world::{Ticket, Timing, World};
use crate::wrong::Wrong;

pub(super) struct Reader {
    part: usize,
    path: String,
    list: Unpacked,
    /// The difference of the numbers of its objects.
    stride: u32,
    /// The version that the answer to the request under way may not go below.
    least: u64,
    /// Whether its answer may be older than the newest state.
    old: bool,
    sent: u64,
    /// When the request is due that is next or under way, where there is a rate.
    due: Option<u64>,
    done: u64,
}

impl Reader {
    pub(super) fn new(part: usize, world: &World, query: &str, (old, stride): (bool, u32)) -> Self {
        let list = Unpacked::new(Listed::new(world.plan.encoding).every(stride), true);
        let path = format!("{}{query}", world.plan.collection());
        Self { part, path, list, stride: stride.max(1), least: 0, old, sent: 0, due: None, done: 0 }
    }
}

/// Check the media type of an answer.
pub(super) fn check_media(world: &World, head: &Head) -> Result<(), Wrong> {
    if world.plan.encoding.is(&head.content_type) {
        return Ok(());
    }
    Err(Wrong(format!("an answer of type {:?}", head.content_type)))
}

/// Note that the server has no such encoding.
pub(super) fn skip(world: &mut World, name: &str, status: u16, body: &[u8]) -> Result<(), Wrong> {
    if status == 406 {
        world.skipped = Some("406 Not Acceptable".to_owned());
        return Ok(());
    }
    Err(Wrong(format!("{name}: status {status}: {}", excerpt(body))))
}

impl Agent for Reader {
    fn next(&mut self, world: &mut World, out: &mut Vec<u8>) -> Next {
        if world.over() && (self.done > 0 || world.skipped.is_some()) {
            return Next::Done;
        }
        let due = match world.ticket(self.part, &mut self.due) {
            Ticket::Due(due) => due,
            Ticket::At(due) => return Next::At(due),
            Ticket::Over => return Next::Done,
        };
        (self.least, self.sent) = (if self.old { 0 } else { world.known.listed }, world.now);
        let (accept, gzip) = (world.plan.encoding.list(), world.plan.gzip);
        world.target.write(&Request { method: "GET", path: &self.path, accept, gzip, body: None }, out);
        Next::Due(due)
    }

    fn head(&mut self, world: &mut World, head: &Head) -> Result<(), Wrong> {
        self.list.begin(head.gzip, 0);
        check_media(world, head)
    }

    fn body(&mut self, world: &mut World, piece: &[u8]) -> Result<Flow, Wrong> {
        self.list.feed(world, piece).map(|()| Flow::More)
    }

    fn end(&mut self, world: &mut World, timing: Timing) -> Result<(), Wrong> {
        let same = self.list.finish(world, false)?;
        let version = self.list.version(world, self.least)?;
        if !same {
            self.list.listed.complete(world, self.sent, version)?;
        }
        world.known.listed = world.known.listed.max(version);
        self.done += 1;
        self.due = None;
        let objects = u64::from(world.plan.objects.div_ceil(self.stride));
        world.count_operation(self.part, timing, objects);
        let figures = &mut world.figures[self.part];
        figures.body = self.list.size;
        figures.same += u64::from(same);
        Ok(())
    }

    fn refuse(&mut self, world: &mut World, status: u16, body: &[u8]) -> Result<(), Wrong> {
        skip(world, "list", status, body)
    }

    fn name(&self) -> String {
        "list".to_owned()
    }
}
