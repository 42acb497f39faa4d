//! The history of one resource: events in order, bounded in time, number and bytes.

#![allow(clippy::arithmetic_side_effects, reason = "it counts objects and bytes that are in memory")]
#![allow(clippy::indexing_slicing, reason = "places come from the structure that they lead through")]

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

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
    /// When it was applied, by the clock of the view.
    at: Duration,
    /// Whether a later event holds the version after this one as the version before it.
    handed_on: bool,
}

/// Bounds of a history.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How long events are kept.
    pub window: Duration,
    /// How many events are kept at most.
    pub events: usize,
    /// How many bytes of versions are kept at most, with what is kept beside them in other forms.
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
    /// The bytes of all versions that events hold, each once.
    bytes: usize,
    /// The bytes that are kept beside them.
    beside: Arc<AtomicUsize>,
    /// The revision of the latest event that was dropped: the oldest state that can be rebuilt.
    compacted: u64,
    limits: Limits,
}

impl Ring {
    pub(crate) fn new(start: u64, limits: Limits) -> Self {
        Self { events: VecDeque::new(), base: 0, bytes: 0, beside: Arc::default(), compacted: start, limits }
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

    /// Where versions count what is kept beside them.
    pub(crate) fn beside(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.beside)
    }

    /// Adds an event, whose current version counts in [`Ring::beside`].
    pub(crate) fn push(
        &mut self,
        revision: u64,
        kind: EventType,
        current: Arc<Version>,
        previous: Option<Arc<Version>>,
        now: Duration,
    ) {
        self.bytes += current.size();
        if let Some(previous) = &previous {
            match self.made(previous) {
                Some(event) => event.handed_on = true,
                None => self.hold(previous),
            }
        }
        self.events.push_back(Event { revision, kind, current, previous, at: now, handed_on: false });
        self.trim(now);
    }

    /// The event that made a version, where it is still kept.
    fn made(&mut self, version: &Arc<Version>) -> Option<&mut Event> {
        let at = self.events.partition_point(|e| e.revision < version.revision());
        self.events.get_mut(at).filter(|event| Arc::ptr_eq(&event.current, version))
    }

    fn hold(&mut self, version: &Version) {
        self.bytes += version.size();
        version.count_in(&self.beside);
    }

    fn let_go(&mut self, version: &Version) {
        self.bytes -= version.size();
        version.uncount();
    }

    /// Drops what is out of bounds. The latest event stays within reach as a state, never as a must.
    pub(crate) fn trim(&mut self, now: Duration) {
        while let Some(first) = self.events.front() {
            let over = self.events.len() > self.limits.events
                || self.bytes + self.beside.load(Ordering::Relaxed) > self.limits.bytes
                || now.saturating_sub(first.at) > self.limits.window;
            if !over {
                break;
            }
            self.compacted = self.compacted.max(first.revision);
            self.drop_first();
        }
    }

    /// Ends the history up to a revision, and drops the events before a sequence number.
    pub(crate) fn forget(&mut self, revision: u64, before: u64) {
        self.compacted = self.compacted.max(revision);
        while self.base < before && !self.events.is_empty() {
            self.drop_first();
        }
    }

    fn drop_first(&mut self) {
        let Some(first) = self.events.pop_front() else { return };
        self.base += 1;
        // The event that made the version before went earlier.
        if let Some(previous) = &first.previous {
            self.let_go(previous);
        }
        if !first.handed_on {
            self.let_go(&first.current);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Draft;

    fn version(ring: &Ring, key: &str, revision: u64, size: usize) -> Arc<Version> {
        let json = vec![b'x'; size];
        let (labels, fields) = (Box::default(), Box::default());
        let draft = Draft { json, given: None, rv_at: 0, head: 0, labels, fields, form: 0 };
        Arc::new(Version::new(Arc::from(key), revision, draft, Some(ring.beside())))
    }

    fn ring(bytes: usize) -> Ring {
        Ring::new(0, Limits { bytes, ..Limits::default() })
    }

    /// What events hold is counted once each, and nothing is left of it in the end.
    #[test]
    fn a_version_counts_while_an_event_holds_it() {
        let mut ring = ring(1 << 20);
        let versions: Vec<_> = (1..=5).map(|n| version(&ring, "a", n, 1000)).collect();
        let size = versions[0].size();
        ring.push(1, EventType::Added, Arc::clone(&versions[0]), None, Duration::ZERO);
        ring.push(2, EventType::Modified, Arc::clone(&versions[1]), Some(Arc::clone(&versions[0])), Duration::ZERO);
        ring.push(3, EventType::Modified, Arc::clone(&versions[2]), Some(Arc::clone(&versions[1])), Duration::ZERO);
        assert_eq!(ring.bytes, 3 * size);
        ring.limits.events = 1;
        ring.trim(Duration::ZERO);
        // The one event has a version before it.
        assert_eq!((ring.events.len(), ring.bytes), (1, 2 * size));
        // The version before was made by no event that is kept.
        ring.push(4, EventType::Modified, Arc::clone(&versions[4]), Some(Arc::clone(&versions[3])), Duration::ZERO);
        assert_eq!(ring.bytes, 2 * size);
        ring.limits.events = 0;
        ring.trim(Duration::ZERO);
        assert_eq!((ring.events.len(), ring.bytes, ring.beside.load(Ordering::Relaxed)), (0, 0, 0));
    }

    /// The bound holds for what is kept beside versions too, whenever that is made.
    #[test]
    fn other_forms_count() {
        let mut ring = ring(100_000);
        let first = version(&ring, "a", 1, 1000);
        ring.push(1, EventType::Added, Arc::clone(&first), None, Duration::ZERO);
        first.binary(|| Ok::<_, ()>(vec![0; 60_000])).expect("it is made");
        first.keep_other(7, &vec![b'y'; 30_000], Box::default());
        first.keep_other(7, &vec![b'y'; 35_000], Box::default());
        assert!((95_000..96_000).contains(&ring.beside.load(Ordering::Relaxed)));
        let second = version(&ring, "b", 2, 10_000);
        ring.push(2, EventType::Added, second, None, Duration::ZERO);
        assert_eq!((ring.events.len(), ring.beside.load(Ordering::Relaxed)), (1, 0));
        first.keep_other(8, b"z", Box::default());
        assert_eq!(ring.beside.load(Ordering::Relaxed), 0);
    }
}
