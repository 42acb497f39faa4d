//! The clock of a server.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::Timestamp;

/// The source of the time. Each server has its own; nothing else reads the time of the machine.
#[derive(Debug)]
pub struct Clock {
    start: Instant,
}

impl Default for Clock {
    #[allow(clippy::disallowed_methods, reason = "the one clock")]
    fn default() -> Self {
        Self { start: Instant::now() }
    }
}

impl Clock {
    /// Return the present moment.
    #[must_use]
    #[allow(clippy::disallowed_methods, clippy::cast_possible_wrap, reason = "the one clock; seconds fit for ages")]
    pub fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp { seconds: since.as_secs() as i64, nanos: since.subsec_nanos() }
    }

    /// Return the time since the clock was made; it never decreases.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }
}

#[cfg(test)]
mod tests {
    use super::Clock;

    #[test]
    fn it_goes_on() {
        let clock = Clock::default();
        let (now, elapsed) = (clock.now(), clock.elapsed());
        assert!(clock.elapsed() >= elapsed);
        assert!(now.seconds > 1_700_000_000);
    }
}
