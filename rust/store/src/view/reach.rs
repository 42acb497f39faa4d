//! How far shards are, and when they were there.

#![allow(clippy::arithmetic_side_effects, reason = "revisions are counted by who gives them")]

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

use crate::view::ages::Ages;

/// The revision up to which everything has been applied: of one shard that is fed, or of all shards whose revisions are
/// given here, inside the lock of the shard that takes one.
#[derive(Debug)]
pub(crate) struct Reach {
    revision: AtomicU64,
    /// When revisions were current. Locked after a shard's state, never before.
    ages: Mutex<Ages>,
    gives: bool,
}

impl Reach {
    /// Of a view that gives revisions itself, after `start`.
    pub(crate) fn giving(start: u64, window: Duration) -> Self {
        Self { revision: AtomicU64::new(start), ages: Mutex::new(Ages::new(window)), gives: true }
    }

    /// Of a shard whose revisions come from outside.
    pub(crate) fn fed(window: Duration) -> Self {
        Self { revision: AtomicU64::new(0), ages: Mutex::new(Ages::new(window)), gives: false }
    }

    pub(crate) fn revision(&self) -> u64 {
        self.revision.load(Ordering::Acquire)
    }

    /// The next revision.
    pub(crate) fn take(&self) -> u64 {
        self.revision.fetch_add(1, Ordering::AcqRel) + 1
    }

    /// Everything up to a revision has been applied.
    pub(crate) fn raise(&self, revision: u64) {
        self.revision.fetch_max(revision, Ordering::AcqRel);
    }

    /// The revision for a reader who may come back to it: one that is not about to expire, where one can be given.
    pub(crate) fn lasting(&self, now: Duration) -> u64 {
        let mut ages = self.ages.lock();
        let mut revision = self.revision();
        if self.gives && ages.is_due(now, revision) {
            revision = self.take();
        }
        ages.mark(now, revision);
        revision
    }

    /// The oldest revision whose state is kept, by its age. The present state of a shard that is fed never ends.
    pub(crate) fn oldest(&self, now: Duration) -> u64 {
        let oldest = self.ages.lock().oldest(now);
        if self.gives { oldest } else { oldest.min(self.revision()) }
    }
}
