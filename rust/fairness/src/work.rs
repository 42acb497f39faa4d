//! The estimated work of a request (apiserver `pkg/util/flowcontrol/request/width.go`).

/// The seconds that a request is expected to take before it has run.
pub const GUESS: f64 = 0.003;

/// Seats, while a request runs and afterwards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Work {
    /// Seats while it runs.
    pub first: u64,
    /// Seats afterwards, while watchers get their events.
    pub last: u64,
    /// How long that is, in seconds.
    pub extra: f64,
}

impl Work {
    /// The work of most requests.
    pub const ONE: Self = Self { first: 1, last: 0, extra: 0.0 };

    /// Return the seats that it takes.
    pub fn most(&self) -> u64 {
        self.first.max(self.last)
    }

    /// Return all of it in seat-seconds, as far as is known before it runs.
    pub fn total(&self) -> f64 {
        self.first as f64 * GUESS + self.last as f64 * self.extra
    }
}
