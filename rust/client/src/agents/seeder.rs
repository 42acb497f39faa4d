//! A creator of the seeded objects.

use crate::agent::{Agent, Flow, Next};
use crate::body::{Body, seed_name};
use crate::event::{Facts, Format, excerpt, own_mark, text_after};
use crate::http::Head;
use crate::marks::SEED;
use crate::plan::Owned;
use crate::target::Request;
use crate::world::{Timing, World};
use crate::wrong::Wrong;

pub(super) struct Seeder {
    part: usize,
    text: String,
    current: Option<u32>,
    /// Whether the connection was lost while the object was created.
    unsure: bool,
    body: Vec<u8>,
}

impl Seeder {
    pub(super) fn new(part: usize, text: &str) -> Self {
        Self { part, text: text.to_owned(), current: None, unsure: false, body: Vec::new() }
    }
}

impl Agent for Seeder {
    fn next(&mut self, world: &mut World, out: &mut Vec<u8>) -> Next {
        let number = match self.current {
            Some(number) => number,
            None if world.seeding < world.plan.objects => {
                world.seeding += 1;
                world.seeding - 1
            }
            None => return Next::Done,
        };
        self.current = Some(number);
        let path = world.plan.collection_of(number);
        let accept = "application/json";
        let body = Body { plan: &world.plan, number, write: None, version: None, text: &self.text }.object();
        let request =
            Request { method: "POST", path: &path, accept, gzip: false, body: Some((accept, body.as_bytes())) };
        world.target.write(&request, out);
        Next::Send
    }

    fn wants(&self, status: u16) -> bool {
        status == 201
    }

    fn head(&mut self, _: &mut World, _: &Head) -> Result<(), Wrong> {
        self.body.clear();
        Ok(())
    }

    fn body(&mut self, _: &mut World, piece: &[u8]) -> Result<Flow, Wrong> {
        self.body.extend_from_slice(piece);
        Ok(Flow::More)
    }

    fn end(&mut self, world: &mut World, timing: Timing) -> Result<(), Wrong> {
        let Some(number) = self.current.take() else { return Ok(()) };
        self.unsure = false;
        let name = seed_name(number);
        let uid = text_after(&self.body, "uid").map(|uid| String::from_utf8_lossy(uid).into_owned());
        let facts = Facts::of(Format::Json, &self.body);
        let right = own_mark(&self.body).is_some_and(|mark| (mark.place, mark.number) == (SEED, number))
            && facts.name == name.as_bytes()
            && facts.version > 0
            && world.filled(&self.body, &facts);
        let path = world.plan.collection_of(number);
        world.owned.push(Owned { path, name: name.clone(), uid });
        if !right {
            return Err(Wrong(format!(
                "the answer to the creation of {name} shows another object: {}",
                excerpt(&self.body)
            )));
        }
        world.known.note_creation(number, &self.body);
        world.count_operation(self.part, timing, 1);
        Ok(())
    }

    fn refuse(&mut self, world: &mut World, status: u16, body: &[u8]) -> Result<(), Wrong> {
        let Some(number) = self.current else { return Ok(()) };
        let name = seed_name(number);
        if status == 409 && self.unsure {
            // The creation that had no answer was carried out.
            self.unsure = false;
            self.current = None;
            let path = world.plan.collection_of(number);
            world.owned.push(Owned { path, name, uid: None });
            return Ok(());
        }
        Err(Wrong(format!("create {name}: status {status}: {}", excerpt(body))))
    }

    fn lose(&mut self, _: &mut World) {
        self.unsure = true;
    }

    fn pending(&self, world: &World) -> Option<Owned> {
        let number = self.current?;
        Some(Owned { path: world.plan.collection_of(number), name: seed_name(number), uid: None })
    }

    fn name(&self) -> String {
        self.current.map_or_else(|| "create".to_owned(), |number| format!("create {}", seed_name(number)))
    }
}
