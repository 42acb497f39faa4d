//! Counts of the requests of one flow schema in one level.

use hydrofoil_metrics::Histogram;
use parking_lot::Mutex;

/// The buckets of durations in seconds (`requestDurationSecondsBuckets`).
const SECONDS: [f64; 13] = [0.0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0];
/// The buckets of estimated seats (`work_estimated_seats`).
const SEATS: [f64; 8] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 100.0];
/// The buckets of lengths of queues (`queueLengthBuckets`).
const LENGTHS: [f64; 8] = [0.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1000.0];

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// All seats of a level without queues are taken.
    Limit,
    /// Its queue is full.
    Full,
    /// It has waited for too long.
    Late,
}

impl Reason {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Limit, Self::Full, Self::Late];

    /// Return the word of metrics.
    pub fn word(self) -> &'static str {
        match self {
            Self::Limit => "concurrency-limit",
            Self::Full => "queue-full",
            Self::Late => "time-out",
        }
    }
}

/// The counts of one schema in one level.
///
/// Several levels may count in it, and a scrape reads it: the numbers of a request change together.
#[derive(Debug, Default)]
pub struct Counts(Mutex<Tally>);

impl Counts {
    /// Change or read the numbers.
    pub fn with<T>(&self, what: impl FnOnce(&mut Tally) -> T) -> T {
        what(&mut self.0.lock())
    }
}

/// The numbers themselves.
#[derive(Clone, Debug)]
pub struct Tally {
    /// Requests that run.
    pub executing: u64,
    /// Seats in use.
    pub seats: u64,
    /// Requests that wait.
    pub waiting: u64,
    /// Seats that they want.
    pub waiting_seats: u64,
    /// Requests that have run or do so.
    pub dispatched: u64,
    /// Attempts to run a waiting request that found no free seats.
    pub unfit: u64,
    /// Refusals by reason, in the order of [`Reason::ALL`].
    pub rejected: [u64; 3],
    /// Seconds of requests that ran.
    pub regular: Histogram,
    /// Seconds until watches began.
    pub watches: Histogram,
    /// Requests of levels with queues that did not wait.
    at_once: u64,
    waited: Histogram,
    /// Seconds of waits that ended with a refusal.
    pub refused: Histogram,
    /// Requests of one seat.
    narrow: u64,
    work: Histogram,
    lengths: Histogram,
}

impl Default for Tally {
    fn default() -> Self {
        let seconds = || Histogram::new(SECONDS.to_vec());
        Self {
            executing: 0,
            seats: 0,
            waiting: 0,
            waiting_seats: 0,
            dispatched: 0,
            unfit: 0,
            rejected: [0; 3],
            regular: seconds(),
            watches: seconds(),
            at_once: 0,
            waited: seconds(),
            refused: seconds(),
            narrow: 0,
            work: Histogram::new(SEATS.to_vec()),
            lengths: Histogram::new(LENGTHS.to_vec()),
        }
    }
}

impl Tally {
    /// Count a refusal.
    pub fn reject(&mut self, reason: Reason) {
        let [limit, full, late] = &mut self.rejected;
        let count = match reason {
            Reason::Limit => limit,
            Reason::Full => full,
            Reason::Late => late,
        };
        *count = count.saturating_add(1);
    }

    /// Count the seats that a request is estimated to take.
    pub fn estimate(&mut self, seats: u64) {
        if seats == 1 {
            self.narrow = self.narrow.saturating_add(1);
        } else {
            self.work.observe(seats as f64, 1);
        }
    }

    /// Count a request that runs, and the seconds that it has been in a queue if its level has any.
    pub fn run(&mut self, seats: u64, queued: Option<f64>) {
        self.executing = self.executing.saturating_add(1);
        self.dispatched = self.dispatched.saturating_add(1);
        self.seats = self.seats.saturating_add(seats);
        match queued {
            None => {}
            Some(seconds) if seconds <= 0.0 => self.at_once = self.at_once.saturating_add(1),
            Some(seconds) => self.waited.observe(seconds, 1),
        }
    }

    /// Count a request that waits, as the last of so many in its queue.
    pub fn wait(&mut self, seats: u64, length: usize) {
        self.waiting = self.waiting.saturating_add(1);
        self.waiting_seats = self.waiting_seats.saturating_add(seats);
        self.lengths.observe(length as f64, 1);
    }

    /// Count the end of a wait.
    pub fn leave(&mut self, seats: u64) {
        self.waiting = self.waiting.saturating_sub(1);
        self.waiting_seats = self.waiting_seats.saturating_sub(seats);
    }

    /// Count the end of a request, without its seats.
    pub fn finish(&mut self, seconds: f64, watch: bool) {
        self.executing = self.executing.saturating_sub(1);
        let found = if watch { &mut self.watches } else { &mut self.regular };
        found.observe(seconds, 1);
    }

    /// Return the seconds that requests waited before they ran.
    pub fn wait_histogram(&self) -> Histogram {
        let mut found = self.waited.clone();
        found.observe(0.0, self.at_once);
        found
    }

    /// Return the estimated seats.
    pub fn work(&self) -> Histogram {
        let mut found = self.work.clone();
        found.observe(1.0, self.narrow);
        found
    }

    /// Return the lengths that requests found in their queue, with themselves; alone if they need not wait.
    pub fn lengths(&self) -> Histogram {
        let mut found = self.lengths.clone();
        found.observe(1.0, self.at_once);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::{Counts, Reason};

    #[test]
    fn what_is_counted_in_short_is_shown_in_full() {
        let counts = Counts::default();
        counts.with(|found| {
            found.estimate(1);
            found.estimate(9);
            found.run(1, Some(0.0));
            found.run(1, None);
            found.wait(9, 3);
            found.leave(9);
            found.run(9, Some(0.01));
            found.reject(Reason::Late);
            found.finish(0.3, true);
        });
        counts.with(|found| {
            assert_eq!((found.executing, found.dispatched, found.seats, found.waiting), (2, 3, 11, 0));
            assert_eq!(found.rejected, [0, 0, 1]);
            assert!(found.wait_histogram().counts().starts_with(&[1, 0, 1]));
            assert!(found.work().counts().starts_with(&[1, 0, 0, 0, 1]));
            assert!(found.lengths().counts().starts_with(&[0, 2]));
            assert_eq!(found.watches.counts().iter().sum::<u64>(), 1);
        });
    }
}
