//! The figures of the parts of a run.

use crate::histogram::Histogram;

/// The figures of one part.
#[derive(Debug)]
pub(crate) struct Figures {
    pub(crate) ops: u64,
    pub(crate) objects: u64,
    /// The size of the last body.
    pub(crate) body: u64,
    pub(crate) latency: Histogram,
    pub(crate) first_byte: Histogram,
    /// From a write sent, and from its answer, to its event.
    pub(crate) lag_sent: Histogram,
    pub(crate) lag_acked: Histogram,
    /// Operations that have been given a time at which they are due, where there is a rate.
    pub(crate) tickets: u64,
    /// When the last operation ended.
    pub(crate) last: u64,
    /// Starts whose events came in another order than that of their keys.
    pub(crate) unordered: u64,
    /// Answers that were byte for byte the same as one that was unpacked and checked.
    pub(crate) same: u64,
}

impl Figures {
    pub(crate) fn new() -> Self {
        Self {
            ops: 0,
            objects: 0,
            body: 0,
            latency: Histogram::new(),
            first_byte: Histogram::new(),
            lag_sent: Histogram::new(),
            lag_acked: Histogram::new(),
            tickets: 0,
            last: 0,
            unordered: 0,
            same: 0,
        }
    }
}
