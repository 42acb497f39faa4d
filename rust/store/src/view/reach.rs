//! The progress of shards, and its times.

#![allow(clippy::arithmetic_side_effects, reason = "revisions are counted by who gives them")]

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

use crate::view::ages::Ages;
use crate::view::dates::Dates;

/// The revision up to which everything is applied: of one shard with a feed, or of all shards with local revisions,
/// which are assigned inside the lock of the writing shard.
#[derive(Debug)]
pub(crate) struct Reach {
    /// Changed inside the lock of the shard that has the change, and a reader of the tree takes that lock after it has
    /// read this: it finds everything up to the revision. Raised before the lock, a fresh read of a feed could miss an
    /// acknowledged write.
    revision: AtomicU64,
    /// The times of revisions. Locked after a shard's state, never before.
    ages: Mutex<Ages>,
    /// The times of the revisions that the view assigned: a shard that is made later has its history as far as others
    /// have theirs.
    dates: Mutex<Dates>,
    gives: bool,
    /// The latest revision that a common log assigned.
    assigned: AtomicU64,
    /// The same, up to which it may: those above are not reserved on its disk, and another process could assign them.
    limit: AtomicU64,
}

impl Reach {
    /// Return the progress of a view that assigns revisions itself, after `start`.
    pub(crate) fn giving(start: u64, window: Duration) -> Self {
        Self { gives: true, ..Self::after(start, window) }
    }

    /// Return the progress of the shards of a common log, after `start`.
    pub(crate) fn after(start: u64, window: Duration) -> Self {
        Self {
            revision: AtomicU64::new(start),
            ages: Mutex::new(Ages::new(window)),
            dates: Mutex::new(Dates::new(window)),
            gives: false,
            assigned: AtomicU64::new(start),
            limit: AtomicU64::new(0),
        }
    }

    /// Return the progress of a shard with a feed.
    pub(crate) fn of_feed(window: Duration) -> Self {
        Self::after(0, window)
    }

    pub(crate) fn revision(&self) -> u64 {
        self.revision.load(Ordering::Acquire)
    }

    /// Assign the next revision.
    pub(crate) fn take(&self) -> u64 {
        self.revision.fetch_add(1, Ordering::AcqRel) + 1
    }

    /// Record the time of an event, if the view assigned its revision.
    pub(crate) fn date(&self, now: Duration, revision: u64) {
        if self.gives {
            self.dates.lock().add(now, revision);
        }
    }

    /// Return the revision before which states have expired for all shards; `None` if others assign revisions.
    pub(crate) fn expired_revision(&self, now: Duration) -> Option<u64> {
        self.gives.then(|| self.dates.lock().expired_revision(now))
    }

    /// Record that everything up to a revision is applied.
    pub(crate) fn raise(&self, revision: u64) {
        self.revision.fetch_max(revision, Ordering::AcqRel);
    }

    /// Record that no revision up to this one is assigned from now on.
    pub(crate) fn skip(&self, revision: u64) {
        self.assigned.fetch_max(revision, Ordering::AcqRel);
        self.raise(revision);
    }

    /// Return the latest revision that was assigned.
    pub(crate) fn assigned_revision(&self) -> u64 {
        self.assigned.load(Ordering::Acquire)
    }

    /// Assign a number of revisions for events that are applied later; return the one before them.
    pub(crate) fn assign(&self, count: u64) -> u64 {
        self.assigned.fetch_add(count, Ordering::AcqRel)
    }

    /// Set the last revision that may be assigned.
    pub(crate) fn allow(&self, limit: u64) {
        self.limit.store(limit, Ordering::Release);
    }

    /// Assign the next revision to no event, if no assigned one is still to be applied.
    fn spare(&self, revision: u64) -> Option<u64> {
        let next = revision + 1;
        if next > self.limit.load(Ordering::Acquire) {
            return None;
        }
        self.assigned.compare_exchange(revision, next, Ordering::AcqRel, Ordering::Acquire).ok()?;
        self.raise(next);
        Some(next)
    }

    /// Return the revision for a reader that may return to it: one that does not expire soon, if one can be assigned.
    pub(crate) fn lasting(&self, now: Duration) -> u64 {
        let mut ages = self.ages.lock();
        let mut revision = self.revision();
        if ages.is_due(now, revision) {
            revision = if self.gives { self.take() } else { self.spare(revision).unwrap_or(revision) };
        }
        ages.mark(now, revision);
        revision
    }

    /// Return the oldest revision whose state is available, by its age. The present state of a shard with a feed never
    /// expires.
    pub(crate) fn oldest(&self, now: Duration) -> u64 {
        let oldest = self.ages.lock().oldest(now);
        if self.gives { oldest } else { oldest.min(self.revision()) }
    }
}
