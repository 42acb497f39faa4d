//! A deleter of the objects of a run: each by its name and uid.

use crate::agent::{Agent, Flow, Next};
use crate::body::deletion;
use crate::event::excerpt;
use crate::http::Head;
use crate::plan::Part;
use crate::target::Request;
use crate::world::{Timing, World};
use crate::wrong::Wrong;

pub(super) struct Remover {
    part: usize,
    current: Option<usize>,
}

impl Remover {
    pub(super) fn new(part: usize) -> Self {
        Self { part, current: None }
    }
}

impl Agent for Remover {
    fn next(&mut self, world: &mut World, out: &mut Vec<u8>) -> Next {
        let Part::Remove { items, .. } = &world.plan.parts[self.part] else { return Next::Done };
        let at = match self.current {
            Some(at) => at,
            None if world.removing < items.len() => {
                world.removing += 1;
                world.removing - 1
            }
            None => return Next::Done,
        };
        self.current = Some(at);
        let item = &items[at];
        let path = format!("{}/{}", item.path, item.name);
        let body = deletion(item.uid.as_deref(), item.path.ends_with("/pods"));
        let accept = "application/json";
        let request =
            Request { method: "DELETE", path: &path, accept, gzip: false, body: Some((accept, body.as_bytes())) };
        world.target.write(&request, out);
        Next::Send
    }

    fn wants(&self, status: u16) -> bool {
        // 404: it has gone. 409: another object has its name.
        matches!(status, 200 | 202 | 404 | 409)
    }

    fn head(&mut self, _: &mut World, _: &Head) -> Result<(), Wrong> {
        Ok(())
    }

    fn body(&mut self, _: &mut World, _: &[u8]) -> Result<Flow, Wrong> {
        Ok(Flow::More)
    }

    fn end(&mut self, world: &mut World, timing: Timing) -> Result<(), Wrong> {
        self.current = None;
        world.count_operation(self.part, timing, 1);
        Ok(())
    }

    fn refuse(&mut self, world: &mut World, status: u16, body: &[u8]) -> Result<(), Wrong> {
        if let (Part::Remove { items, .. }, Some(at)) = (&world.plan.parts[self.part], self.current.take()) {
            let why = format!("{}: status {status}: {}", items[at].name, excerpt(body));
            world.left.push(why);
        }
        Ok(())
    }

    fn name(&self) -> String {
        "delete".to_owned()
    }
}
