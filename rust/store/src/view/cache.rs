//! A cache of encodings, limited in bytes, that evicts the least used ones first.

#![allow(clippy::arithmetic_side_effects, reason = "it counts objects and bytes that are in memory")]

use std::any::Any;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use parking_lot::Mutex;

/// A cached encoding of a leaf: opaque to the store, shared by readers.
pub type Made = Arc<dyn Any + Send + Sync>;

/// A cache entry. Its metadata stays available after its bytes are evicted.
#[derive(Debug)]
pub struct Block {
    /// `None` once it is evicted. A reader clones the handle under the lock and keeps the bytes alive for itself, so
    /// that eviction never waits for one.
    made: Mutex<Option<Made>>,
    size: usize,
    /// Whether it was used since the hand of the clock passed; a mark that is lost in a race costs one encoding.
    used: AtomicBool,
    kept: Arc<Kept>,
}

/// The totals of all blocks that hold their bytes.
#[derive(Debug, Default)]
struct Kept {
    /// Each block is added once and taken off once, by its eviction or its end: the lock of its bytes decides which.
    bytes: AtomicUsize,
    /// Their number, by which dropped ones are removed from the clock.
    blocks: AtomicUsize,
}

impl Block {
    /// Return the encoding, unless it was evicted.
    pub fn get(&self) -> Option<Made> {
        self.used.store(true, Ordering::Relaxed);
        self.made.lock().clone()
    }

    /// Report whether it still holds its bytes.
    pub fn is_held(&self) -> bool {
        self.made.lock().is_some()
    }

    fn evict(&self) {
        if self.made.lock().take().is_some() {
            self.kept.bytes.fetch_sub(self.size, Ordering::Relaxed);
            self.kept.blocks.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        self.evict();
    }
}

/// The number of dropped blocks that the clock may always contain.
const FEW: usize = 64;

/// The cached encodings of a whole store.
///
/// A clock cache: a block used since the hand last passed is kept for another round. Blocks dropped by writes to their
/// leaves are removed from the clock before they outnumber the others.
#[derive(Debug)]
pub struct Cache {
    kept: Arc<Kept>,
    /// Weak, as the leaves own the blocks: one that a write drops is gone at once. The locks of blocks are taken inside
    /// this one, so nothing that holds a block's lock may add to the cache.
    clock: Mutex<VecDeque<Weak<Block>>>,
    /// In bytes; it follows the size of the objects, and a block that is added by an older one is evicted by the next.
    limit: AtomicUsize,
}

impl Cache {
    /// Return a cache of at most `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self { kept: Arc::default(), clock: Mutex::default(), limit: AtomicUsize::new(limit) }
    }

    /// Change the limit. It applies from the next block on.
    pub fn set_limit(&self, limit: usize) {
        self.limit.store(limit, Ordering::Relaxed);
    }

    /// Add an encoding of a size in bytes, and evict others for it.
    pub fn add(&self, made: Made, size: usize) -> Arc<Block> {
        let block = Arc::new(Block {
            made: Mutex::new(Some(made)),
            size,
            used: AtomicBool::new(false),
            kept: Arc::clone(&self.kept),
        });
        let total = self.kept.bytes.fetch_add(size, Ordering::Relaxed) + size;
        let blocks = self.kept.blocks.fetch_add(1, Ordering::Relaxed) + 1;
        let mut clock = self.clock.lock();
        clock.push_back(Arc::downgrade(&block));
        if clock.len() > 2 * blocks + FEW {
            clock.retain(|entry| entry.strong_count() > 0);
        }
        let limit = self.limit.load(Ordering::Relaxed);
        if total > limit {
            sweep(&mut clock, &self.kept.bytes, limit);
        }
        block
    }
}

/// Move the hand until the limit holds: at most two rounds, since the first may only reset marks.
fn sweep(clock: &mut VecDeque<Weak<Block>>, total: &AtomicUsize, limit: usize) {
    for _ in 0..2 * clock.len() {
        if total.load(Ordering::Relaxed) <= limit {
            return;
        }
        let Some(entry) = clock.pop_front() else { return };
        let Some(block) = entry.upgrade() else { continue };
        if block.used.swap(false, Ordering::Relaxed) {
            clock.push_back(entry);
        } else {
            block.evict();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(cache: &Cache, size: usize) -> Arc<Block> {
        cache.add(Arc::new(size), size)
    }

    #[test]
    fn the_bound_holds_and_what_is_used_stays() {
        let cache = Cache::new(100);
        let (first, second) = (add(&cache, 40), add(&cache, 40));
        assert!(first.get().is_some());
        let third = add(&cache, 40);
        assert!(first.is_held() && third.is_held() && !second.is_held());
        assert_eq!(cache.kept.bytes.load(Ordering::Relaxed), 80);
    }

    /// Memory stays constant however many writes drop blocks.
    #[test]
    fn blocks_that_are_gone_leave_the_clock() {
        let cache = Cache::new(1 << 30);
        let kept: Vec<_> = (0..100).map(|_| add(&cache, 1)).collect();
        for _ in 0..1_000_000 {
            drop(add(&cache, 90));
            assert!(cache.clock.lock().len() <= 2 * (kept.len() + 1) + FEW);
        }
        assert!(kept.iter().all(|block| block.is_held()));
        assert_eq!(cache.kept.blocks.load(Ordering::Relaxed), kept.len());
    }

    #[test]
    fn a_dropped_block_weighs_nothing() {
        let cache = Cache::new(100);
        drop(add(&cache, 90));
        assert_eq!(cache.kept.bytes.load(Ordering::Relaxed), 0);
        let kept = add(&cache, 90);
        assert!(kept.is_held());
    }

    #[test]
    fn what_is_larger_than_the_bound_is_not_kept() {
        let cache = Cache::new(10);
        assert!(!add(&cache, 11).is_held());
        assert_eq!(cache.kept.bytes.load(Ordering::Relaxed), 0);
    }
}
