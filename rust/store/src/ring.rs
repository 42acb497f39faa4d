//! The history of one resource: events in order, bounded in time, number and bytes.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::Version;

/// What happened to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventType {
    /// It came into being, or into the selection.
    Added,
    /// It changed.
    Modified,
    /// It went, or left the selection.
    Deleted,
}

impl EventType {
    /// The name on the wire.
    pub const fn wire(self) -> &'static str {
        match self {
            Self::Added => "ADDED",
            Self::Modified => "MODIFIED",
            Self::Deleted => "DELETED",
        }
    }
}

/// One committed change.
#[derive(Debug)]
pub struct Event {
    /// The revision of the change.
    pub revision: u64,
    /// What happened.
    pub kind: EventType,
    /// The version after it; of a deletion, the last state at the revision of the deletion.
    pub current: Arc<Version>,
    /// The version before it.
    pub previous: Option<Arc<Version>>,
    at: Instant,
}

/// Bounds of a history.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How long events are kept.
    pub window: Duration,
    /// How many events are kept at most.
    pub events: usize,
    /// How many bytes of versions are kept at most.
    pub bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { window: Duration::from_secs(300), events: 200_000, bytes: 256 << 20 }
    }
}

/// Events by sequence number: the first has `base`, the next to come `end()`.
#[derive(Debug)]
pub(crate) struct Ring {
    events: VecDeque<Event>,
    base: u64,
    bytes: usize,
    /// The revision of the latest event that was dropped: the oldest state that can be rebuilt.
    compacted: u64,
    limits: Limits,
}

impl Ring {
    pub(crate) fn new(start: u64, limits: Limits) -> Self {
        Self { events: VecDeque::new(), base: 0, bytes: 0, compacted: start, limits }
    }

    pub(crate) fn base(&self) -> u64 {
        self.base
    }

    pub(crate) fn end(&self) -> u64 {
        self.base + self.events.len() as u64
    }

    pub(crate) fn compacted(&self) -> u64 {
        self.compacted
    }

    /// The event of a sequence number that is still kept.
    pub(crate) fn get(&self, seq: u64) -> Option<&Event> {
        self.events.get(usize::try_from(seq.checked_sub(self.base)?).ok()?)
    }

    /// The sequence number of the first event after a revision.
    pub(crate) fn after(&self, revision: u64) -> u64 {
        self.base + self.events.partition_point(|e| e.revision <= revision) as u64
    }

    pub(crate) fn push(
        &mut self,
        revision: u64,
        kind: EventType,
        current: Arc<Version>,
        previous: Option<Arc<Version>>,
    ) {
        let now = Instant::now();
        self.bytes += current.size();
        self.events.push_back(Event { revision, kind, current, previous, at: now });
        self.trim(now);
    }

    /// Drops what is out of bounds. The latest event stays within reach as a state, never as a must.
    pub(crate) fn trim(&mut self, now: Instant) {
        while let Some(first) = self.events.front() {
            let over = self.events.len() > self.limits.events
                || self.bytes > self.limits.bytes
                || now.duration_since(first.at) > self.limits.window;
            if !over {
                break;
            }
            self.compacted = first.revision;
            self.bytes -= first.current.size();
            self.events.pop_front();
            self.base += 1;
        }
    }
}
