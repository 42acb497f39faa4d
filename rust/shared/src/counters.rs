//! Numbers of a server to which each of its processes adds.

use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::Region;
use crate::layout::{COUNTERS_AT, HOLDER, NAME, NAMES_AT, SLOTS, USED};

/// The number of counters.
pub const COUNTERS: usize = 1024;
/// The first counter that has a name.
pub const NAMED: usize = 16;
/// How often a process looks whether another has done with the counters, at first without a pause.
const ROUNDS: usize = 2010;
/// The number of looks without a pause.
const SPINS: usize = 2000;
/// The pause between later looks.
const PAUSE: Duration = Duration::from_micros(200);

/// The right of one process to change counters as one step.
#[derive(Debug)]
pub struct Held<'r> {
    region: &'r Region,
    is_own: bool,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        if self.is_own {
            self.region.word(HOLDER).store(0, Ordering::Release);
        }
    }
}

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
        let used = (self.word(USED).load(Ordering::Acquire) as usize).min(SLOTS);
        (0..used).map(|slot| self.count(counter, slot)).fold(0, i64::wrapping_add)
    }

    /// Add to the share of this process unless the sum would exceed a limit; report whether it was added.
    pub fn take(&self, counter: usize, change: i64, limit: i64) -> bool {
        let _one = self.hold();
        let fits = self.total(counter).saturating_add(change) <= limit;
        if fits {
            self.add(counter, change);
        }
        fits
    }

    /// Begin a look at some counters and their change as one step. A process that is stopped while it holds them is not
    /// waited for longer than some milliseconds: a limit is exceeded by a little then.
    pub fn hold(&self) -> Held<'_> {
        let own = (self.slot() as u64).saturating_add(1);
        for round in 0..ROUNDS {
            let free = self.word(HOLDER).compare_exchange(0, own, Ordering::AcqRel, Ordering::Acquire);
            if free.is_ok() {
                return Held { region: self, is_own: true };
            }
            if round < SPINS { std::hint::spin_loop() } else { std::thread::sleep(PAUSE) }
        }
        Held { region: self, is_own: false }
    }

    /// Return the counter of a name, the same in every process; `None` if the name is too long, or all are taken.
    pub fn counter(&self, name: &str) -> Option<usize> {
        let _one = self.hold();
        let length = name.len();
        if length == 0 || length > NAME.saturating_sub(8) {
            return None;
        }
        for counter in NAMED..COUNTERS {
            let at = NAMES_AT.saturating_add(counter.saturating_mul(NAME));
            let known = self.word(at).load(Ordering::Acquire) as usize;
            let place = self.place(at.saturating_add(8), length.max(known));
            if known == 0 {
                // SAFETY: nobody reads the bytes before the length is set, and one process at a time sets one.
                unsafe { std::ptr::copy_nonoverlapping(name.as_ptr(), place.as_ptr(), length) };
                self.word(at).store(length as u64, Ordering::Release);
                return Some(counter);
            }
            // SAFETY: the bytes were written before their length, and do not change.
            let text = unsafe { std::slice::from_raw_parts(place.as_ptr(), known) };
            if text == name.as_bytes() {
                return Some(counter);
            }
        }
        None
    }

    /// Take the shares of a process that has ended out of all counters.
    pub fn forget_counts(&self, slot: usize) {
        let own = (slot as u64).saturating_add(1);
        // It may have ended while it held them.
        let _ = self.word(HOLDER).compare_exchange(own, 0, Ordering::AcqRel, Ordering::Acquire);
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
        assert!(!worker.take(5, 2, 7) && worker.take(5, 1, 7));
        owner.forget_counts(3);
        assert_eq!(worker.total(5), 2);
    }

    #[test]
    fn a_name_is_one_counter_everywhere() {
        let owner = Region::create().expect("there is memory");
        let worker = Region::open(owner.fileno(), 3).expect("it is the same");
        let [one, two] = ["one", "two"].map(|name| owner.counter(name));
        assert!(one.is_some() && two.is_some() && one != two);
        assert_eq!((worker.counter("two"), worker.counter("one")), (two, one));
        assert_eq!(owner.counter(&"x".repeat(300)), None);
    }

    #[test]
    fn who_ended_holds_nothing() {
        let owner = Region::create().expect("there is memory");
        let worker = Region::open(owner.fileno(), 3).expect("it is the same");
        std::mem::forget(worker.hold());
        owner.forget_counts(3);
        assert!(owner.hold().is_own);
    }
}
