//! Where everything is in a region. Offsets are in bytes.

/// The number of processes that may map a region: one bit of a block's mask each.
pub const SLOTS: usize = 64;

/// The slot of the owner; those of workers follow.
pub const OWNER: usize = 0;

/// Each word that several processes write has a line of the cache of its own.
pub(crate) const LINE: usize = 64;

/// The number of records that were written to the feed.
pub(crate) const POSITION: usize = 0;
/// The latest revision of the truth.
pub(crate) const REVISION: usize = LINE;
/// The word that processes sleep on.
pub(crate) const WORD: usize = 2 * LINE;
/// The number of processes that sleep on it.
pub(crate) const SLEEPERS: usize = 3 * LINE;
/// The first of the blocks that were let go of.
pub(crate) const FREED: usize = 4 * LINE;
/// The processes that read the feed, a bit each.
pub(crate) const ATTACHED: usize = 5 * LINE;

/// The process that changes several numbers as one, or names one: its slot and one; 0 for nobody.
pub(crate) const HOLDER: usize = 6 * LINE;
/// The number of slots that were used so far.
pub(crate) const USED: usize = 7 * LINE;

/// A number for each counter and slot.
pub(crate) const COUNTERS_AT: usize = 8 << 10;

/// The records of the feed.
pub(crate) const FEED_AT: usize = 1 << 20;

/// The names of counters: a length and bytes each.
pub(crate) const NAMES_AT: usize = 24 << 20;
/// The room of a name, with its length.
pub(crate) const NAME: usize = 256;

/// The blocks.
pub(crate) const HEAP_AT: usize = 32 << 20;

/// The unit in which the heap takes memory from the system and gives it back.
pub(crate) const SEGMENT: usize = 1 << 20;
