//! One queue of a level.

use std::collections::VecDeque;

/// Requests that wait for their turn, first in, first out.
#[derive(Debug, Default)]
pub struct Queue {
    /// The numbers of the waiting requests.
    pub waiting: VecDeque<usize>,
    /// Requests of this queue that run.
    pub executing: u64,
    /// The seats in use by them.
    pub seats: u64,
    /// The virtual time at which the next request begins.
    pub next: f64,
    /// The work of the waiting requests, in seat-seconds.
    pub work: f64,
}

impl Queue {
    /// Report whether any request is waiting or running.
    pub fn active(&self) -> bool {
        !self.waiting.is_empty() || self.executing > 0
    }
}
