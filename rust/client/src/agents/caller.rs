//! A single request.

use crate::agent::{Agent, Flow, Next};
use crate::http::Head;
use crate::plan::Part;
use crate::target::Request;
use crate::world::{Timing, World};
use crate::wrong::Wrong;

/// The longest answer that is kept.
const MOST: usize = 1 << 30;

pub(super) struct Caller {
    part: usize,
    answered: bool,
    status: u16,
    body: Vec<u8>,
}

impl Caller {
    pub(super) fn new(part: usize) -> Self {
        Self { part, answered: false, status: 0, body: Vec::new() }
    }
}

impl Agent for Caller {
    fn next(&mut self, world: &mut World, out: &mut Vec<u8>) -> Next {
        if self.answered {
            return Next::Done;
        }
        let Part::Call { method, path, accept, media, body } = &world.plan.parts[self.part] else { return Next::Done };
        let body = (!media.is_empty()).then_some((media.as_str(), body.as_bytes()));
        world.target.write(&Request { method, path, accept, gzip: false, body }, out);
        Next::Send
    }

    fn wants(&self, _: u16) -> bool {
        true
    }

    fn head(&mut self, _: &mut World, head: &Head) -> Result<(), Wrong> {
        self.status = head.status;
        self.body.clear();
        Ok(())
    }

    fn body(&mut self, _: &mut World, piece: &[u8]) -> Result<Flow, Wrong> {
        self.body.extend_from_slice(piece);
        if self.body.len() > MOST {
            return Err(Wrong("an answer of more than a gigabyte".to_owned()));
        }
        Ok(Flow::More)
    }

    fn end(&mut self, world: &mut World, timing: Timing) -> Result<(), Wrong> {
        self.answered = true;
        world.answer = Some((self.status, std::mem::take(&mut self.body)));
        world.count_operation(self.part, timing, 0);
        Ok(())
    }

    fn name(&self) -> String {
        "a request".to_owned()
    }
}
