//! How long evaluations may keep a caller waiting.

use std::cell::Cell;
use std::time::{Duration, Instant};

use hydrofoil_pace::CALL_COST;

/// The cost after which the clock is looked at: a few microseconds of an evaluation.
pub(crate) const STEP: u64 = 50;
/// The cost of a run beside that of its expression.
const START: u64 = 5;

/// The time for evaluations that others wait for. One that takes longer gives up, to be begun anew where none waits.
///
/// Costs alone do not bound it: the size of a string costs one, however long the string is.
#[derive(Debug)]
pub struct Patience {
    time: Duration,
    /// From the first look at the clock: most evaluations end before it.
    until: Cell<Option<Instant>>,
    /// The cost since the clock was last looked at.
    due: Cell<u64>,
    over: Cell<bool>,
}

impl Patience {
    /// Return a time that begins with the first evaluation.
    pub fn of(time: Duration) -> Self {
        Self { time, until: Cell::new(None), due: Cell::new(0), over: Cell::new(false) }
    }

    /// Report whether an evaluation gave up: it has no result.
    pub fn is_over(&self) -> bool {
        self.over.get()
    }

    /// Count the cost of a part; report whether the time is over.
    #[allow(clippy::disallowed_methods, reason = "it measures work, which the clock of a server may not stop")]
    pub(crate) fn passed(&self, cost: u64) -> bool {
        let due = self.due.get().saturating_add(cost);
        if due < STEP {
            self.due.set(due);
        } else {
            self.due.set(0);
            let now = Instant::now();
            let until = self.until.get().unwrap_or_else(|| now.checked_add(self.time).unwrap_or(now));
            self.until.set(Some(until));
            if now >= until {
                self.over.set(true);
            }
        }
        self.over.get()
    }

    /// Count the rest of a run whose cost was counted in part.
    pub(crate) fn count_rest(&self, cost: u64) {
        self.passed(cost.saturating_add(START));
    }

    /// Give up if a call costs too much to be waited for; report whether it does.
    pub(crate) fn refuses(&self, cost: u64) -> bool {
        if cost > CALL_COST {
            self.over.set(true);
        }
        self.over.get()
    }
}
