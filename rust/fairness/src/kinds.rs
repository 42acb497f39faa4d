//! Requests of all levels by their kind: reads and writes.

use crate::Timing;

/// The buckets of parts of a limit (`read_vs_write_current_requests`).
const RATIOS: &[f64] = &[0.0, 0.001, 0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0];

/// The kind of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// get and list.
    Read,
    /// A read that lasts: it has its seats until it has begun.
    Watch,
    /// Every other verb.
    Write,
}

impl Kind {
    /// Return the kind of a verb.
    pub fn of(verb: &str) -> Self {
        match verb {
            "get" | "list" => Self::Read,
            "watch" => Self::Watch,
            _ => Self::Write,
        }
    }

    fn writes(self) -> bool {
        self == Self::Write
    }
}

/// The numbers of requests of one server that run and wait.
#[derive(Debug)]
pub struct Kinds {
    running: [Timing; 2],
    waiting: [Timing; 2],
}

impl Kinds {
    /// Begin without any request.
    pub fn new(now: f64) -> Self {
        let one = || [Timing::new(RATIOS, now), Timing::new(RATIOS, now)];
        Self { running: one(), waiting: one() }
    }

    /// Set how many may run and wait.
    pub fn limit(&mut self, running: u64, waiting: u64, now: f64) {
        self.running.iter_mut().for_each(|found| found.limit(running, now));
        self.waiting.iter_mut().for_each(|found| found.limit(waiting, now));
    }

    /// Count a request that begins to run, or to wait.
    pub fn enter(&mut self, kind: Kind, waits: bool, now: f64) {
        let found = self.of(kind.writes(), waits);
        found.set(found.value().saturating_add(1), now);
    }

    /// Count its end, or that of its wait.
    pub fn leave(&mut self, kind: Kind, waits: bool, now: f64) {
        let found = self.of(kind.writes(), waits);
        found.set(found.value().saturating_sub(1), now);
    }

    /// Return the numbers over time of requests that read, or that write.
    pub fn of(&mut self, writes: bool, waits: bool) -> &mut Timing {
        let [reads, changes] = if waits { &mut self.waiting } else { &mut self.running };
        if writes { changes } else { reads }
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, Kinds};

    #[test]
    fn reads_and_writes_are_counted_apart() {
        let mut found = Kinds::new(0.0);
        found.limit(2, 10, 0.0);
        found.enter(Kind::of("list"), false, 0.0);
        found.enter(Kind::of("watch"), false, 0.0);
        found.enter(Kind::of("patch"), true, 0.0);
        let now = |found: &mut Kinds| {
            [(false, false), (true, false), (false, true), (true, true)].map(|(w, q)| found.of(w, q).value())
        };
        assert_eq!(now(&mut found), [2, 0, 0, 1]);
        found.leave(Kind::of("patch"), true, 1.0);
        found.enter(Kind::of("patch"), false, 1.0);
        found.leave(Kind::of("get"), false, 1.0);
        assert_eq!(now(&mut found), [1, 1, 0, 0]);
        assert_eq!(found.of(false, false).until(1.0).counts().iter().rposition(|n| *n > 0), Some(14));
    }
}
