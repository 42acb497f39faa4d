//! A reader of lists in pages.

use std::fmt::Write;

use super::reader::{check_media, skip};
use crate::agent::{Agent, Flow, Next};
use crate::body::seed_name;
use crate::check::{Listed, Unpacked};
use crate::http::Head;
use crate::target::Request;
use crate::world::{Ticket, Timing, World};
use crate::wrong::Wrong;

pub(super) struct Pager {
    part: usize,
    path: String,
    list: Unpacked,
    /// Where the list continues, and the number of its next object.
    token: Option<String>,
    from: u32,
    /// The version of the list that is walked, and the one that it may not go below.
    version: u64,
    least: u64,
    sent: u64,
    /// When the request is due that is next or under way, where there is a rate.
    due: Option<u64>,
    walks: u64,
}

impl Pager {
    pub(super) fn new(part: usize, world: &World, limit: u32) -> Self {
        let listed = Listed::new(world.plan.encoding);
        let path = format!("{}?limit={limit}", world.plan.collection());
        Self {
            part,
            path,
            list: Unpacked::new(listed, false),
            token: None,
            from: 0,
            version: 0,
            least: 0,
            sent: 0,
            due: None,
            walks: 0,
        }
    }
}

fn escape(text: &str) -> String {
    let mut made = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => made.push(char::from(byte)),
            _ => {
                let _ = write!(made, "%{byte:02X}");
            }
        }
    }
    made
}

impl Agent for Pager {
    fn next(&mut self, world: &mut World, out: &mut Vec<u8>) -> Next {
        // A walk that has begun is walked to its end once.
        if world.over() && (self.walks > 0 || world.skipped.is_some()) {
            return Next::Done;
        }
        let due = match world.ticket(self.part, &mut self.due) {
            Ticket::Due(due) => due,
            Ticket::At(due) => return Next::At(due),
            // A walk that has begun is walked to its end, at no rate.
            Ticket::Over if self.walks == 0 => world.now,
            Ticket::Over => return Next::Done,
        };
        if self.token.is_none() {
            (self.least, self.sent) = (world.known.listed, world.now);
        }
        let path = match &self.token {
            Some(token) => &format!("{}&continue={}", self.path, escape(token)),
            None => &self.path,
        };
        let (accept, gzip) = (world.plan.encoding.list(), world.plan.gzip);
        world.target.write(&Request { method: "GET", path, accept, gzip, body: None }, out);
        Next::Due(due)
    }

    fn head(&mut self, world: &mut World, head: &Head) -> Result<(), Wrong> {
        self.list.begin(head.gzip, self.from);
        check_media(world, head)
    }

    fn body(&mut self, world: &mut World, piece: &[u8]) -> Result<Flow, Wrong> {
        self.list.feed(world, piece).map(|()| Flow::More)
    }

    fn end(&mut self, world: &mut World, timing: Timing) -> Result<(), Wrong> {
        // A packed page gives its last text when it is finished.
        self.list.finish(world, true)?;
        let version = self.list.version(world, self.least)?;
        if self.token.is_some() && version != self.version {
            let (page, began) = (seed_name(self.from), self.version);
            return Err(Wrong(format!(
                "the page from {page} has resourceVersion {version}, its list began at {began}"
            )));
        }
        self.version = version;
        let listed = &self.list.listed;
        self.token = listed.text("continue");
        listed.finish(world, self.token.is_some())?;
        let objects = u64::from(listed.position() - self.from);
        if self.token.is_some() {
            self.from = listed.position();
        } else {
            self.from = 0;
            listed.complete(world, self.sent, version)?;
            self.walks += 1;
            world.known.listed = world.known.listed.max(version);
        }
        world.count_operation(self.part, timing, objects);
        self.due = None;
        world.figures[self.part].body = self.list.size;
        Ok(())
    }

    fn refuse(&mut self, world: &mut World, status: u16, body: &[u8]) -> Result<(), Wrong> {
        skip(world, &format!("the page from {}", seed_name(self.from)), status, body)
    }

    fn name(&self) -> String {
        "pages".to_owned()
    }
}
