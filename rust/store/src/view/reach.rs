//! The progress of shards, and its times.

#![allow(clippy::arithmetic_side_effects, reason = "revisions are counted by who gives them")]

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

use crate::view::ages::Ages;

/// The revision up to which everything is applied: of one shard with a feed, or of all shards with local revisions,
/// which are assigned inside the lock of the writing shard.
#[derive(Debug)]
pub(crate) struct Reach {
    revision: AtomicU64,
    /// The times of revisions. Locked after a shard's state, never before.
    ages: Mutex<Ages>,
    gives: bool,
}

impl Reach {
    /// Return the progress of a view that assigns revisions itself, after `start`.
    pub(crate) fn giving(start: u64, window: Duration) -> Self {
        Self { revision: AtomicU64::new(start), ages: Mutex::new(Ages::new(window)), gives: true }
    }

    /// Return the progress of a shard with a feed.
    pub(crate) fn fed(window: Duration) -> Self {
        Self { revision: AtomicU64::new(0), ages: Mutex::new(Ages::new(window)), gives: false }
    }

    pub(crate) fn revision(&self) -> u64 {
        self.revision.load(Ordering::Acquire)
    }

    /// Assign the next revision.
    pub(crate) fn take(&self) -> u64 {
        self.revision.fetch_add(1, Ordering::AcqRel) + 1
    }

    /// Record that everything up to a revision is applied.
    pub(crate) fn raise(&self, revision: u64) {
        self.revision.fetch_max(revision, Ordering::AcqRel);
    }

    /// Return the revision for a reader that may return to it: one that does not expire soon, if one can be assigned.
    pub(crate) fn lasting(&self, now: Duration) -> u64 {
        let mut ages = self.ages.lock();
        let mut revision = self.revision();
        if self.gives && ages.is_due(now, revision) {
            revision = self.take();
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
