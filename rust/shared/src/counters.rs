//! Numbers of a server to which each of its processes adds.

use std::sync::atomic::Ordering;

use crate::Region;
use crate::layout::{COUNTERS_AT, SLOTS};

/// The number of counters.
pub const COUNTERS: usize = 1024;

impl Region {
    /// Add to the share that this process has of a counter.
    pub fn add(&self, counter: usize, change: i64) {
        self.share(counter, self.slot()).fetch_add(change as u64, Ordering::SeqCst);
    }

    /// Return the share that the process of a slot has of a counter.
    pub fn count(&self, counter: usize, slot: usize) -> i64 {
        self.share(counter, slot).load(Ordering::SeqCst) as i64
    }

    /// Return a counter: the sum of all shares.
    pub fn total(&self, counter: usize) -> i64 {
        (0..SLOTS).map(|slot| self.count(counter, slot)).fold(0, i64::wrapping_add)
    }

    /// Take the shares of a process that has ended out of all counters.
    pub fn forget_counts(&self, slot: usize) {
        for counter in 0..COUNTERS {
            self.share(counter, slot).store(0, Ordering::SeqCst);
        }
    }

    /// The shares of one counter are beside each other: they are read together far more often than written.
    fn share(&self, counter: usize, slot: usize) -> &std::sync::atomic::AtomicU64 {
        assert!(counter < COUNTERS && slot < SLOTS, "there is no such counter");
        #[allow(clippy::arithmetic_side_effects, reason = "both are bounded above")]
        self.word(COUNTERS_AT + (counter * SLOTS + slot) * 8)
    }
}

#[cfg(test)]
mod tests {
    use crate::Region;

    #[test]
    fn the_share_of_a_process_ends_with_it() {
        let owner = Region::create().expect("there is memory");
        let worker = Region::open(owner.fileno(), 3).expect("it is the same");
        owner.add(5, 2);
        worker.add(5, 7);
        worker.add(5, -3);
        assert_eq!((owner.total(5), owner.count(5, 3), worker.total(6)), (6, 4, 0));
        owner.forget_counts(3);
        assert_eq!(worker.total(5), 2);
    }
}
