//! The time of the machine: durations are what this crate measures, and no server's clock is concerned.

use std::time::Instant;

/// Nanoseconds since a start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    #[allow(clippy::disallowed_methods, reason = "a client outside of the server measures the machine's time")]
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    pub(crate) fn nanos(self) -> u64 {
        u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

/// Seconds as nanoseconds.
pub(crate) fn of_seconds(seconds: f64) -> u64 {
    (seconds.max(0.0) * 1e9) as u64
}
