//! Bytes that several processes use and nobody changes.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::Region;
use crate::layout::FREED;

/// Where the header of a block has the processes that use it, a bit each.
const MASK: usize = 0;
/// Where it has the next block that was let go of.
const NEXT: usize = 8;
/// Where it has the number of bytes; 0 while the block is free.
const LENGTH: usize = 16;
/// The size of a header.
pub(crate) const HEADER: usize = 24;

/// A block as one process uses it. There is one value of a block in a process: its end is the end of the process's
/// bit, and clones of an `Arc` share it.
pub struct Block {
    region: Arc<Region>,
    at: usize,
    length: usize,
    /// Whether the end of this value is that of the process's use.
    is_held: bool,
}

impl Block {
    /// Return the block at a place, which the feed or its owner lent to this process.
    pub fn at(region: &Arc<Region>, at: u64) -> Self {
        let at = at as usize;
        let length = header(region, at, LENGTH).load(Ordering::Acquire) as usize;
        Self { region: Arc::clone(region), at, length, is_held: true }
    }

    /// Return the place of the block in its region.
    pub fn place(&self) -> u64 {
        self.at as u64
    }

    /// End this value without letting go of the block: the process has another one of it.
    pub fn keep_lent(mut self) {
        self.is_held = false;
    }

    /// Lend the block to the processes of a mask: each must make a value of it, or end.
    pub fn lend(&self, mask: u64) {
        header(&self.region, self.at, MASK).fetch_or(mask, Ordering::AcqRel);
    }
}

impl Deref for Block {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        let start = self.region.place(self.at.saturating_add(HEADER), self.length);
        // SAFETY: the bytes were written before the block was lent, and the bit of this process keeps them as they are.
        unsafe { std::slice::from_raw_parts(start.as_ptr(), self.length) }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if self.is_held {
            release(&self.region, self.at, self.region.slot());
        }
    }
}

impl fmt::Debug for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Block").field("at", &self.at).field("length", &self.length).finish_non_exhaustive()
    }
}

/// Take the bit of a process out of a block; whoever takes the last one gives the block back to the owner's heap.
pub(crate) fn release(region: &Region, at: usize, slot: usize) {
    let bit = 1_u64.checked_shl(slot as u32).unwrap_or_default();
    if header(region, at, MASK).fetch_and(!bit, Ordering::AcqRel) != bit {
        return;
    }
    // A list that grows at its head, which the owner takes as a whole: no block can leave it between these two steps.
    let head = region.word(FREED);
    let mut first = head.load(Ordering::Acquire);
    loop {
        header(region, at, NEXT).store(first, Ordering::Release);
        match head.compare_exchange_weak(first, at as u64, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => return,
            Err(now) => first = now,
        }
    }
}

/// Write a new block of the owner.
pub(crate) fn begin(region: &Arc<Region>, at: usize, parts: &[&[u8]], length: usize, mask: u64) -> Block {
    let mut to = at.saturating_add(HEADER);
    for part in parts {
        let place = region.place(to, part.len());
        // SAFETY: the heap gave these bytes to the owner alone: no process has the block yet.
        unsafe { std::ptr::copy_nonoverlapping(part.as_ptr(), place.as_ptr(), part.len()) };
        to = to.saturating_add(part.len());
    }
    header(region, at, LENGTH).store(length as u64, Ordering::Release);
    header(region, at, MASK).store(mask, Ordering::Release);
    Block { region: Arc::clone(region), at, length, is_held: true }
}

/// Take the whole list of blocks that were let go of: the place of each.
pub(crate) fn take_freed(region: &Region) -> impl Iterator<Item = usize> {
    let mut next = match region.word(FREED).load(Ordering::Relaxed) {
        0 => 0,
        _ => region.word(FREED).swap(0, Ordering::AcqRel),
    };
    std::iter::from_fn(move || {
        let at = next as usize;
        (at != 0).then(|| {
            next = header(region, at, NEXT).load(Ordering::Acquire);
            header(region, at, LENGTH).store(0, Ordering::Release);
            at
        })
    })
}

/// Report whether the block at a place is in use, or was let go of and not yet taken back.
pub(crate) fn is_used(region: &Region, at: usize) -> bool {
    header(region, at, LENGTH).load(Ordering::Acquire) != 0
}

/// Report whether a process uses a block.
pub(crate) fn is_used_by(region: &Region, at: usize, slot: usize) -> bool {
    header(region, at, MASK).load(Ordering::Acquire) & 1_u64.checked_shl(slot as u32).unwrap_or_default() != 0
}

fn header(region: &Region, at: usize, member: usize) -> &AtomicU64 {
    region.word(at.saturating_add(member))
}
