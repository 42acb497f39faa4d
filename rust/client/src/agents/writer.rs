//! A writer: the steps of the lives of objects, one after the other.

use super::reader::skip;
use crate::agent::{Agent, Flow, Next};
use crate::body::{Body, churn_name, deletion, status};
use crate::event::{Facts, bare, deletion_facts, excerpt, name, own_mark, version};
use crate::http::Head;
use crate::ledger::{Change, Object};
use crate::marks::{self, CHURN, CHURN_DATA, Mark};
use crate::plan::{Encoding, Owned, Resource, Step};
use crate::target::Request;
use crate::world::{Ticket, Timing, World};
use crate::wrong::Wrong;

/// A write that is under way.
#[derive(Clone, Copy)]
struct Current {
    number: u32,
    step: Step,
    write: u32,
}

pub(super) struct Writer {
    part: usize,
    id: u32,
    connections: u32,
    /// The number of objects that are written in turn; 0 for new ones.
    objects: u32,
    steps: Vec<Step>,
    text: String,
    /// A pod whose status is written.
    pod: Option<Owned>,
    turn: u32,
    life: Option<u32>,
    due: Option<u64>,
    current: Option<Current>,
    body: Vec<u8>,
}

impl Writer {
    pub(super) fn new(
        part: usize,
        id: u32,
        (connections, objects): (u32, u32),
        steps: &[Step],
        text: &str,
        pod: Option<Owned>,
    ) -> Self {
        Self {
            part,
            id,
            connections,
            objects,
            steps: steps.to_vec(),
            text: text.to_owned(),
            pod,
            turn: id,
            life: None,
            due: None,
            current: None,
            body: Vec::new(),
        }
    }

    /// The object of the next write.
    fn choose(&mut self, world: &mut World) -> Option<u32> {
        if self.objects == 0 {
            if self.life.is_none() {
                world.ledger.objects.push(Object::default());
                self.life = Some(world.ledger.objects.len() as u32 - 1);
            }
            return self.life;
        }
        for _ in 0..self.objects.div_ceil(self.connections) {
            let number = self.turn;
            self.turn += self.connections;
            if self.turn >= self.objects {
                self.turn = self.id;
            }
            if number < self.objects && !world.ledger.objects[number as usize].unsure {
                return Some(number);
            }
        }
        None
    }

    /// Whether the status of a pod is written in the place of the object's.
    fn beside(world: &World, step: Step) -> bool {
        step == Step::Status && world.plan.resource != Resource::Pods
    }

    fn request(&self, world: &World, current: Current, out: &mut Vec<u8>) {
        let Current { number, step, write } = current;
        let (collection, name) = (world.plan.collection(), churn_name(number));
        let one = format!("{collection}/{name}");
        let object = &world.ledger.objects[number as usize];
        let mut state = Body { plan: &world.plan, number, write: Some(write), version: None, text: &self.text };
        let json = "application/json";
        let (method, path, media, body) = match step {
            Step::Create => ("POST", collection, json, state.object()),
            Step::Update => {
                state.version = Some(object.version);
                ("PUT", one, json, state.object())
            }
            Step::Merge => ("PATCH", one, "application/merge-patch+json", state.merge()),
            Step::Apply => {
                let path = format!("{one}?fieldManager=hydrofoil-bench&force=true");
                ("PATCH", path, "application/apply-patch+yaml", state.object())
            }
            Step::Status => {
                let (path, body) = match &self.pod {
                    Some(pod) if world.plan.resource != Resource::Pods => (
                        format!("{}/{}", pod.path, pod.name),
                        // Were the write before this one lost, the version would be another.
                        status(
                            Mark { place: CHURN, number, write },
                            Mark { place: CHURN_DATA, number, write },
                            world.beside[self.id as usize].version,
                        ),
                    ),
                    _ => (one, state.status()),
                };
                ("PATCH", format!("{path}/status"), "application/strategic-merge-patch+json", body)
            }
            Step::Delete => {
                let body = deletion(object.uid.as_deref(), world.plan.resource == Resource::Pods);
                ("DELETE", one, json, body)
            }
        };
        let accept = world.plan.encoding.object();
        let body = Some((media, body.as_bytes()));
        world.target.write(&Request { method, path: &path, accept, gzip: false, body }, out);
    }

    /// The error of an answer.
    fn wrong(current: Current, why: &str) -> Wrong {
        let verb = format!("{:?}", current.step).to_lowercase();
        Wrong(format!("{verb} of {}: {why}", churn_name(current.number)))
    }

    fn note_deletion(&mut self, world: &mut World, current: Current) {
        let object = &mut world.ledger.objects[current.number as usize];
        object.alive = false;
        object.uid = None;
        self.life = None;
    }

    /// Check that an answer shows the object, as it was written.
    fn check(&self, world: &World, current: Current, version: u64) -> Result<(), String> {
        let (encoding, beside) = (world.plan.encoding, Self::beside(world, current.step));
        let object = bare(encoding.format(), &self.body, encoding == Encoding::Table);
        let object = object.ok_or_else(|| format!("the answer has no object: {}", excerpt(&self.body)))?;
        let facts = Facts::of(encoding.format(), object);
        let wanted =
            if beside { self.pod.as_ref().map(|pod| pod.name.clone()) } else { Some(churn_name(current.number)) };
        if wanted.as_deref().map(str::as_bytes) != Some(facts.name) {
            return Err(format!("the answer shows {}", name(facts.name)));
        }
        if facts.namespace != world.plan.namespace.as_bytes() || facts.version != version {
            let (namespace, found) = (name(facts.namespace), facts.version);
            return Err(format!(
                "the answer shows namespace {namespace:?} and resourceVersion {found}, around it {version}"
            ));
        }
        let made = if beside {
            self.pod.as_ref().map(|pod| &pod.uid)
        } else {
            Some(&world.ledger.objects[current.number as usize].uid)
        };
        let before = made.and_then(Option::as_deref);
        if current.step != Step::Create && before.is_some_and(|uid| uid.as_bytes() != facts.uid) {
            return Err(format!("the answer shows an object with uid {}", name(facts.uid)));
        }
        if encoding.has_data() && !beside && !world.filled(object, &facts) {
            return Err("the answer does not show the written data".to_owned());
        }
        Ok(())
    }

    /// Check the answer that shows an object.
    fn check_write(&mut self, world: &mut World, current: Current) -> Result<(), Wrong> {
        let encoding = world.plan.encoding;
        let format = encoding.format();
        let found = version(format, &self.body).map_err(|Wrong(why)| Self::wrong(current, &why))?;
        self.check(world, current, found).map_err(|why| Self::wrong(current, &why))?;
        let beside = Self::beside(world, current.step);
        let object = &mut world.ledger.objects[current.number as usize];
        let before = if beside { world.beside[self.id as usize].version.unwrap_or(0) } else { object.version };
        if found <= before {
            return Err(Self::wrong(current, &format!("resourceVersion {found} after {before}")));
        }
        let wanted = Mark { place: CHURN, number: current.number, write: current.write };
        if own_mark(&self.body) != Some(wanted) {
            return Err(Self::wrong(current, &format!("the answer does not show the write: {}", excerpt(&self.body))));
        }
        let data = !beside && current.step != Step::Status && encoding.has_data();
        let found_data = crate::event::data_mark(&self.body, wanted).map(|mark| (mark.number, mark.write));
        if data && found_data != Some((wanted.number, wanted.write)) {
            return Err(Self::wrong(current, "the answer does not show the written data"));
        }
        if beside {
            let pod = &mut world.beside[self.id as usize];
            (pod.version, pod.unsure) = (Some(found), false);
            return Ok(());
        }
        object.version = found;
        object.alive = true;
        if current.step == Step::Create {
            object.uid = bare(format, &self.body, encoding == Encoding::Table)
                .map(|object| name(Facts::of(format, object).uid))
                .filter(|uid| !uid.is_empty());
        }
        world.ledger.note_answer(current.number, world.now, found)
    }
}

impl Agent for Writer {
    fn urgent(&self) -> bool {
        true
    }

    fn next(&mut self, world: &mut World, out: &mut Vec<u8>) -> Next {
        if let Some(current) = self.current {
            // A request that was not carried out (429) is sent again.
            self.request(world, current, out);
            return Next::Send;
        }
        if world.skipped.is_some() {
            return Next::Done;
        }
        let due = match world.ticket(self.part, &mut self.due) {
            Ticket::Due(due) => due,
            Ticket::At(due) => return Next::At(due),
            Ticket::Over => return Next::Done,
        };
        if world.over() && world.figures[self.part].ops > 0 {
            return Next::Done;
        }
        self.due = None;
        let Some(number) = self.choose(world) else { return Next::Done };
        let object = &mut world.ledger.objects[number as usize];
        let mut step = self.steps[object.step % self.steps.len()];
        if step == Step::Status && world.plan.resource != Resource::Pods && self.pod.is_none() {
            object.step += 1;
            step = self.steps[object.step % self.steps.len()];
        }
        object.step += 1;
        if step == Step::Create {
            object.version = 0;
        }
        let write = if Self::beside(world, step) {
            world.beside[self.id as usize].unsure = true;
            world.ledger.objects[number as usize].writes.len() as u32
        } else {
            let change = match step {
                Step::Create => Change::Create,
                Step::Delete => Change::Delete,
                _ => Change::Update,
            };
            world.ledger.note_send(number, due, change)
        };
        let current = Current { number, step, write };
        self.current = Some(current);
        self.request(world, current, out);
        Next::Due(due)
    }

    fn wants(&self, status: u16) -> bool {
        match self.current {
            Some(Current { step: Step::Create, .. }) => status == 201,
            Some(Current { step: Step::Delete, .. }) => matches!(status, 200 | 202),
            _ => status == 200,
        }
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
        let Some(current) = self.current.take() else { return Ok(()) };
        if current.step == Step::Delete {
            self.note_deletion(world, current);
            // The answer may show the object, but not the version of its deletion.
            if let Some((mark, _)) = marks::all(&self.body).find(|(mark, _)| mark.number != current.number) {
                return Err(Self::wrong(current, &format!("the answer shows {}", churn_name(mark.number))));
            }
            // Tables are of no use for a status: only what can be read is compared.
            if let Some((kind, shown)) = deletion_facts(world.plan.encoding.format(), &self.body) {
                let (kind, shown) = (name(kind), name(shown));
                if kind != "Table" && shown != churn_name(current.number) {
                    return Err(Self::wrong(current, &format!("the answer, a {kind}, shows {shown}")));
                }
            }
            world.ledger.note_answer(current.number, world.now, 0)?;
        } else {
            self.check_write(world, current)?;
        }
        world.count_operation(self.part, timing, 0);
        Ok(())
    }

    fn refuse(&mut self, world: &mut World, code: u16, body: &[u8]) -> Result<(), Wrong> {
        let Some(current) = self.current else { return Ok(()) };
        self.current = None;
        let why = format!("status {code}: {}", excerpt(body));
        if code == 406 {
            return skip(world, "write", code, body);
        }
        Err(Self::wrong(current, &why))
    }

    fn lose(&mut self, world: &mut World) {
        // Whether it was carried out is unknown: the object is left alone, the pod has any version.
        let Some(current) = self.current.take() else { return };
        if Self::beside(world, current.step) {
            world.beside[self.id as usize].version = None;
        } else {
            world.ledger.objects[current.number as usize].unsure = true;
            self.life = None;
        }
    }

    fn name(&self) -> String {
        "write".to_owned()
    }
}
