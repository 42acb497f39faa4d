//! The ages of revisions: past states expire by time, with or without writes.

#![allow(
    clippy::arithmetic_side_effects,
    reason = "a window is divided by constants, revisions are counted by the store"
)]

use std::collections::VecDeque;
use std::time::Duration;

/// Timestamps, each with the revision that was the latest one then.
///
/// This replaces upstream's compactor (apiserver `storage/etcd3/compact.go`), which writes a key of its own every
/// interval and compacts all revisions before the last but one: a state stays available for the window and at most half
/// as long again, which is the average lifetime of a state there.
#[derive(Debug)]
pub(crate) struct Ages {
    marks: VecDeque<(Duration, u64)>,
    /// The oldest revision whose state may still be available.
    oldest: u64,
    window: Duration,
}

impl Ages {
    pub(crate) fn new(window: Duration) -> Self {
        Self { marks: VecDeque::new(), oldest: 0, window }
    }

    /// Report whether the next reader of the present state needs a new revision: the latest one is so old that its
    /// states would expire too early.
    pub(crate) fn is_due(&self, now: Duration, revision: u64) -> bool {
        let half = self.window / 2;
        let is_old = |(at, marked): &(Duration, u64)| *marked == revision && now.saturating_sub(*at) > half;
        revision < self.oldest || self.marks.back().is_some_and(is_old)
    }

    /// Record that a revision is the latest one.
    pub(crate) fn mark(&mut self, now: Duration, revision: u64) {
        match self.marks.back_mut() {
            Some((at, marked)) if now.saturating_sub(*at) <= self.window / 4 => *marked = revision,
            Some((_, marked)) if *marked == revision => {}
            _ => self.marks.push_back((now, revision)),
        }
    }

    /// Return the oldest revision whose state is still available; older ones have expired.
    pub(crate) fn oldest(&mut self, now: Duration) -> u64 {
        let kept = self.window.saturating_add(self.window / 2);
        while let Some((_, revision)) = self.marks.front().filter(|(at, _)| now.saturating_sub(*at) > kept) {
            self.oldest = *revision + 1;
            self.marks.pop_front();
        }
        self.oldest
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Ages;

    #[test]
    fn states_of_an_idle_store_end() {
        let (mut ages, start) = (Ages::new(Duration::from_secs(8)), Duration::from_secs(100));
        let after = |seconds| start + Duration::from_secs(seconds);
        assert!(!ages.is_due(start, 7));
        ages.mark(start, 6);
        ages.mark(after(2), 7);
        assert!(!ages.is_due(after(4), 7));
        assert!(ages.is_due(after(5), 7), "who reads now needs a revision of its own");
        ages.mark(after(5), 8);
        assert_eq!(ages.oldest(after(12)), 0, "kept for the window after the last reader of it");
        assert_eq!(ages.oldest(after(13)), 8, "and no longer");
        assert!(!ages.is_due(after(9), 8));
        assert_eq!(ages.oldest(after(17)), 8, "a token of the second revision's last reader holds for the window");
        assert_eq!(ages.oldest(after(18)), 9);
        assert!(ages.is_due(after(18), 8), "no mark is left that would tell");
    }

    #[test]
    fn writes_make_revisions_that_need_no_other() {
        let (mut ages, start) = (Ages::new(Duration::from_secs(10)), Duration::from_secs(100));
        ages.mark(start, 7);
        assert!(!ages.is_due(start + Duration::from_secs(9), 9));
    }
}
