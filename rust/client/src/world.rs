//! The state that the agents of a run share.

use crate::clock::Stopwatch;
use crate::event::Facts;
use crate::figures::Figures;
use crate::histogram::Histogram;
use crate::known::Known;
use crate::ledger::Ledger;
use crate::plan::{Owned, Plan, Resource};
use crate::target::Target;

/// A pod beside the objects, whose status is written.
#[derive(Clone, Debug)]
pub(crate) struct Beside {
    pub(crate) name: String,
    /// Its version after the last write, once there was one.
    pub(crate) version: Option<u64>,
    /// Whether a write has no answer yet.
    pub(crate) unsure: bool,
}

/// The state that the agents of a run share. One thread has it, so nothing is locked.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) target: Target,
    pub(crate) plan: Plan,
    watch: Stopwatch,
    /// Nanoseconds since the run was made.
    pub(crate) now: u64,
    /// When the measurement began, once it has.
    pub(crate) began: Option<u64>,
    pub(crate) figures: Vec<Figures>,
    /// Latencies since the last sample.
    pub(crate) recent: Histogram,
    pub(crate) ledger: Ledger,
    /// The pods beside the objects, by their writers.
    pub(crate) beside: Vec<Beside>,
    pub(crate) known: Known,
    /// The text in all objects.
    text: String,
    /// Agents that are ready for the measurement.
    pub(crate) opened: usize,
    /// Seeded objects that are begun.
    pub(crate) seeding: u32,
    /// Objects that have been removed, or are begun to be.
    pub(crate) removing: usize,
    pub(crate) owned: Vec<Owned>,
    pub(crate) left: Vec<String>,
    pub(crate) skipped: Option<String>,
    /// The start of a controller manager that is under way.
    pub(crate) round: Round,
    pub(crate) reconnects: u64,
    /// Whether the run ended because a connection could not be had or kept.
    pub(crate) unreachable: bool,
    pub(crate) retries: u64,
    /// Whether the server sends initial events, once that is known.
    pub(crate) initial_events: Option<bool>,
    /// The answer of a single call.
    pub(crate) answer: Option<(u16, Vec<u8>)>,
}

impl World {
    pub(crate) fn new(target: Target, plan: Plan) -> Self {
        let pods = plan.resource == Resource::Pods;
        let (known, text) = (target.take(&plan.run), crate::body::filler(plan.size));
        let figures = plan.parts.iter().map(|_| Figures::new()).collect();
        Self {
            target,
            plan,
            watch: Stopwatch::start(),
            now: 0,
            began: None,
            figures,
            recent: Histogram::new(),
            ledger: Ledger::new(pods),
            beside: Vec::new(),
            known,
            text,
            opened: 0,
            seeding: 0,
            removing: 0,
            owned: Vec::new(),
            left: Vec::new(),
            skipped: None,
            round: Round::default(),
            reconnects: 0,
            unreachable: false,
            retries: 0,
            initial_events: None,
            answer: None,
        }
    }

    /// Whether an object has its text: also a pod to which the server has added containers.
    pub(crate) fn filled(&self, object: &[u8], facts: &Facts<'_>) -> bool {
        let text = self.text.as_bytes();
        facts.text.map_or_else(|| memchr::memmem::find(object, text).is_some(), |found| found == text)
    }

    /// Look at the clock.
    pub(crate) fn tick(&mut self) -> u64 {
        self.now = self.watch.nanos();
        self.now
    }

    /// The time since the measurement began.
    pub(crate) fn elapsed(&self) -> u64 {
        self.began.map_or(0, |began| self.now.saturating_sub(began))
    }

    /// Whether no further operation may begin.
    pub(crate) fn over(&self) -> bool {
        self.elapsed() >= self.plan.nanos() || self.skipped.is_some()
    }

    /// When the next operation of a part is due: `held` is the time that its agent was given, until the answer.
    pub(crate) fn ticket(&mut self, part: usize, held: &mut Option<u64>) -> Ticket {
        let rate = self.plan.rate_of(part);
        if rate <= 0.0 {
            return Ticket::Due(self.now);
        }
        let due = if let Some(due) = *held {
            due
        } else {
            let figures = &mut self.figures[part];
            let due = figures.tickets as f64 / rate;
            if due >= self.plan.seconds && figures.tickets > 0 {
                return Ticket::Over;
            }
            figures.tickets += 1;
            *held.insert(self.began.unwrap_or(self.now) + (due * 1e9) as u64)
        };
        if due > self.now { Ticket::At(due) } else { Ticket::Due(due) }
    }

    /// Count an operation of a part.
    pub(crate) fn count_operation(&mut self, part: usize, timing: Timing, objects: u64) {
        let now = self.now;
        let figures = &mut self.figures[part];
        figures.ops += 1;
        figures.objects += objects;
        figures.latency.add(now.saturating_sub(timing.sent));
        figures.first_byte.add(timing.first.saturating_sub(timing.sent));
        figures.last = now;
        if self.plan.parts[part].shown() {
            self.recent.add(now.saturating_sub(timing.sent));
        }
    }
}

/// A start of all informers together.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Round {
    /// The informers.
    pub(crate) members: usize,
    /// The rounds that are over.
    pub(crate) number: u64,
    /// When the present one began, if it has.
    pub(crate) began: Option<u64>,
    /// The informers of the present one that have started, and the objects that they got.
    pub(crate) done: usize,
    pub(crate) objects: u64,
}

/// The place of an operation in the schedule of a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ticket {
    /// It was due at this time, and is sent now: its latency counts from then, so that an operation that waits for a
    /// connection is not left out.
    Due(u64),
    /// It is due at this later time.
    At(u64),
    /// Nothing more is due within the measurement.
    Over,
}

/// The times of one exchange.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Timing {
    pub(crate) sent: u64,
    pub(crate) first: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::plan;

    fn world(rate: u32) -> World {
        let text = format!(
            r#"{{"parts":[{{"part":"list","readers":2}}],"resource":"configmaps","namespace":"n","run":"r","objects":1,"size":9,"seconds":1,"rate":0,"read_rate":{rate},"encoding":"json","gzip":false,"patience":1}}"#
        );
        let mut world = World::new(Target::new(Vec::new(), String::new(), None, None), plan(text.as_bytes()).unwrap());
        world.began = Some(0);
        world
    }

    #[test]
    fn without_a_rate_an_operation_is_due_at_once() {
        let (mut world, mut held) = (world(0), None);
        world.now = 7;
        assert_eq!((world.ticket(0, &mut held), held), (Ticket::Due(7), None));
    }

    #[test]
    fn a_late_operation_counts_from_when_it_was_due_and_keeps_its_ticket_until_its_answer() {
        let (mut world, mut one, mut two) = (world(4), None, None);
        assert_eq!(world.ticket(0, &mut one), Ticket::Due(0));
        assert_eq!(world.ticket(0, &mut two), Ticket::At(250_000_000));
        world.now = 900_000_000;
        assert_eq!(world.ticket(0, &mut two), Ticket::Due(250_000_000));
        assert_eq!(world.ticket(0, &mut two), Ticket::Due(250_000_000), "it is sent again");
        let due: Vec<_> = (0..3).map(|_| world.ticket(0, &mut None)).collect();
        assert_eq!(due, [Ticket::Due(500_000_000), Ticket::Due(750_000_000), Ticket::Over]);
    }
}
