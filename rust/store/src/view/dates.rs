//! The dates of revisions: how far back the history of any shard reaches, also of one without events.

#![allow(clippy::arithmetic_side_effects, reason = "a window is divided by a constant")]

use std::collections::VecDeque;
use std::time::Duration;

/// The fraction of the window below which the dates of two events are not kept apart.
const GRAINS: u32 = 64;

/// The times of events of all shards, the latest one exactly.
#[derive(Debug)]
pub(crate) struct Dates {
    events: VecDeque<(Duration, u64)>,
    /// The revision of the latest event that is older than the window.
    expired: u64,
    window: Duration,
}

impl Dates {
    pub(crate) fn new(window: Duration) -> Self {
        Self { events: VecDeque::new(), expired: 0, window }
    }

    /// Record an event. Revisions grow; those of two threads may come in any order.
    pub(crate) fn add(&mut self, now: Duration, revision: u64) {
        self.expired_revision(now);
        let close = |(at, _): &(Duration, u64)| now.saturating_sub(*at) < self.window / GRAINS;
        if self.events.iter().rev().nth(1).is_some_and(close) {
            self.events.pop_back();
        }
        self.events.push_back((now, revision));
    }

    /// Return the revision of the latest event that is older than the window: states before it have expired.
    pub(crate) fn expired_revision(&mut self, now: Duration) -> u64 {
        while let Some((_, revision)) = self.events.front().filter(|(at, _)| now.saturating_sub(*at) > self.window) {
            self.expired = self.expired.max(*revision);
            self.events.pop_front();
        }
        self.expired
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Dates;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn events_expire_after_the_window() {
        let mut dates = Dates::new(64 * SECOND);
        dates.add(10 * SECOND, 7);
        dates.add(20 * SECOND, 8);
        assert_eq!(dates.expired_revision(74 * SECOND), 0);
        assert_eq!(dates.expired_revision(75 * SECOND), 7);
        assert_eq!(dates.expired_revision(85 * SECOND), 8);
        assert_eq!(dates.expired_revision(999 * SECOND), 8, "the present state is not older than its last event");
    }

    #[test]
    fn few_dates_are_kept_of_many_events_and_the_last_one_exactly() {
        let mut dates = Dates::new(64 * SECOND);
        for number in 0..10_000_u32 {
            dates.add(SECOND / 100 * number, u64::from(number));
        }
        assert!(dates.events.len() <= 130, "{}", dates.events.len());
        let expired = dates.expired_revision(163 * SECOND);
        assert!((9_790..=9_900).contains(&expired), "{expired}");
        assert_eq!(dates.expired_revision(164 * SECOND), 9_999);
    }
}
