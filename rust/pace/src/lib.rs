//! The sizes that decide whether work stays on the event loop or leaves it.
//!
//! The times that classes of work may take of a turn are in `python/hydrofoil/pace/shares.py`, which also gives native
//! code its slices. A size is used where the time of work is known before it begins; each is the work of a tenth of a
//! millisecond to a millisecond on a core of 3 GHz.
//!
//! The sizes that send work off the loop; the rest of the table is `pace/sizes.py`.

/// The bytes of input, together with the object it changes, from which work leaves the loop.
///
/// Decoding, defaulting, validating and encoding them takes about a millisecond. A thread costs some 50 microseconds.
pub const LARGE: usize = 64 << 10;

/// The bytes of input from which work on the calling thread releases the GIL: below, reacquiring it may cost more.
pub const DETACH: usize = 32 << 10;

/// The bytes of stored JSON that a list encodes on the loop: about 100 microseconds.
pub const LITTLE: usize = 16 << 10;

/// The objects or events that a selector is compared with at a time: some 100 microseconds.
pub const SCAN: usize = 1000;

/// The highest cost of one call of an expression on the loop, in CEL's units: it cannot be interrupted, and takes about
/// half a millisecond.
pub const CALL_COST: u64 = 10_000;
