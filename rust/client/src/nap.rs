//! Pauses of a reader that is faster than the server.

use std::time::Duration;

/// The time for more of a large answer to arrive, beside the slack of the system's timers.
const NAP: Duration = Duration::from_micros(10);
/// Waits for more of a large answer of which one is a nap.
const WAITS: usize = 64;

/// When to let more of a large answer arrive. A reader that is as fast as the server is woken for each segment, which the
/// server pays for; one that is behind for once finds the next segments when it reads.
#[derive(Debug)]
pub(crate) struct Naps {
    /// Whether no agent watches: events are read when they arrive.
    allowed: bool,
    flows: bool,
    waits: usize,
}

impl Naps {
    pub(crate) fn new(allowed: bool) -> Self {
        Self { allowed, flows: false, waits: 0 }
    }

    /// A connection has no more bytes for now; `flows`: more of a large answer is about to arrive.
    pub(crate) fn note_drained(&mut self, flows: bool) {
        self.flows |= flows;
    }

    /// Take a nap from time to time before a wait for more of a large answer.
    pub(crate) fn take(&mut self) {
        if std::mem::take(&mut self.flows) && self.allowed {
            self.waits += 1;
            if self.waits.is_multiple_of(WAITS) {
                std::thread::sleep(NAP);
            }
        }
    }
}
