//! The history of one resource: events in order, limited by time, number and bytes.

#![allow(clippy::arithmetic_side_effects, reason = "it counts objects and bytes that are in memory")]
#![allow(clippy::indexing_slicing, reason = "places come from the structure that they lead through")]

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::Version;

/// The number of the latest events whose versions are whole: most readers are at these.
const WHOLE: usize = 256;

/// The type of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventType {
    /// The object was created, or is now selected.
    Added,
    /// It was modified.
    Modified,
    /// It was deleted, or is no longer selected.
    Deleted,
}

impl EventType {
    /// Return the name on the wire.
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
    /// The type.
    pub kind: EventType,
    /// The version after it; for a deletion, the last state at the revision of the deletion.
    pub current: Arc<Version>,
    /// The version before it.
    pub previous: Option<Arc<Version>>,
    /// The time when it was applied, by the clock of the view.
    at: Duration,
    /// Whether a later event has the version after this one as its previous version.
    is_previous: bool,
}

#[cfg(test)]
impl Event {
    /// Return an event outside of any history.
    pub(crate) fn of(revision: u64, kind: EventType, current: Arc<Version>, previous: Option<Arc<Version>>) -> Self {
        Self { revision, kind, current, previous, at: Duration::ZERO, is_previous: false }
    }
}

/// The limits of a history.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The maximum age of events.
    pub window: Duration,
    /// The maximum number of events.
    pub events: usize,
    /// The maximum size of versions, with their cached forms.
    pub bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { window: Duration::from_secs(300), events: 200_000, bytes: 256 << 20 }
    }
}

/// Events by sequence number: the first has `base`, the next new one `end()`.
#[derive(Debug)]
pub(crate) struct Ring {
    events: VecDeque<Event>,
    base: u64,
    /// The bytes of all versions in events, each counted once.
    bytes: usize,
    /// The bytes of their cached forms.
    beside: Arc<AtomicUsize>,
    /// The revision of the latest dropped event: the oldest state that can be rebuilt.
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

    pub(crate) fn compacted_revision(&self) -> u64 {
        self.compacted
    }

    /// Return the event of a sequence number if it is still kept.
    pub(crate) fn get(&self, seq: u64) -> Option<&Event> {
        self.events.get(usize::try_from(seq.checked_sub(self.base)?).ok()?)
    }

    /// Return the sequence number of the first event after a revision.
    pub(crate) fn after(&self, revision: u64) -> u64 {
        self.base + self.events.partition_point(|e| e.revision <= revision) as u64
    }

    /// Return the counter of the versions' cached forms.
    pub(crate) fn beside(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.beside)
    }

    /// Add an event, whose current version is counted in [`Ring::beside`].
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
            match self.creating_event(previous) {
                Some(event) => event.is_previous = true,
                None => self.charge(previous),
            }
        }
        current.set_event(self.end());
        self.events.push_back(Event { revision, kind, current, previous, at: now, is_previous: false });
        self.trim(now);
        if let Some(at) = self.events.len().checked_sub(WHOLE) {
            self.shrink(at);
        }
    }

    /// Keep of the version before an event the difference to the one after it, from now on.
    fn shrink(&mut self, at: usize) {
        let event = &self.events[at];
        let Some(whole) = event.previous.as_ref().map(Arc::clone) else { return };
        let creating = self.creating_event(&whole);
        let before = creating.as_ref().and_then(|event| event.previous.as_ref().map(Arc::clone));
        let Some(small) = whole.shrink(&self.events[at].current, before.as_deref(), &self.beside) else { return };
        let small = Arc::new(small);
        if let Some(before) = before {
            before.follow(&small);
        }
        self.release(&whole);
        self.bytes += small.size();
        if let Some(event) = self.creating_event(&whole) {
            event.current = Arc::clone(&small);
        }
        self.events[at].previous = Some(small);
    }

    /// Return all events, the oldest first, with their times.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&Event, Duration)> {
        self.events.iter().map(|event| (event, event.at))
    }

    /// Return the event that created a version, if it is still kept.
    fn creating_event(&mut self, version: &Arc<Version>) -> Option<&mut Event> {
        let at = usize::try_from(version.event().checked_sub(self.base)?).ok()?;
        self.events.get_mut(at).filter(|event| Arc::ptr_eq(&event.current, version))
    }

    fn charge(&mut self, version: &Version) {
        self.bytes += version.size();
        version.count_in(&self.beside);
    }

    fn release(&mut self, version: &Version) {
        self.bytes -= version.size();
        version.uncount();
    }

    /// Drop events beyond the limits. Even if the latest one is dropped, its state stays available.
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

    /// End the history up to a revision, and drop the events before a sequence number.
    pub(crate) fn forget(&mut self, revision: u64, before: u64) {
        self.compacted = self.compacted.max(revision);
        while self.base < before && !self.events.is_empty() {
            self.drop_first();
        }
    }

    fn drop_first(&mut self) {
        let Some(first) = self.events.pop_front() else { return };
        self.base += 1;
        // The event that created the previous version was dropped earlier.
        if let Some(previous) = &first.previous {
            self.release(previous);
        }
        if !first.is_previous {
            self.release(&first.current);
        }
    }
}

#[cfg(test)]
mod tests {
    use hydrofoil_types::Fingerprint;

    use super::*;
    use crate::Draft;

    fn version(ring: &Ring, key: &str, revision: u64, size: usize) -> Arc<Version> {
        let json = vec![b'x'; size];
        let (labels, fields) = (Box::default(), Box::default());
        let draft = Draft { json, given: None, rv_at: 0, head: 0, labels, fields, fingerprint: Fingerprint::BUILTIN };
        Arc::new(Version::new(Arc::from(key), revision, draft, Some(ring.beside())))
    }

    fn ring(bytes: usize) -> Ring {
        Ring::new(0, Limits { bytes, ..Limits::default() })
    }

    /// The versions in events are counted once each, and none remains counted at the end.
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
        // The one event has a previous version.
        assert_eq!((ring.events.len(), ring.bytes), (1, 2 * size));
        // No kept event created the previous version.
        ring.push(4, EventType::Modified, Arc::clone(&versions[4]), Some(Arc::clone(&versions[3])), Duration::ZERO);
        assert_eq!(ring.bytes, 2 * size);
        ring.limits.events = 0;
        ring.trim(Duration::ZERO);
        assert_eq!((ring.events.len(), ring.bytes, ring.beside.load(Ordering::Relaxed)), (0, 0, 0));
    }

    /// The limit includes the cached forms of versions, whenever they are made.
    #[test]
    fn other_forms_count() {
        let mut ring = ring(100_000);
        let first = version(&ring, "a", 1, 1000);
        ring.push(1, EventType::Added, Arc::clone(&first), None, Duration::ZERO);
        first.binary(|| Ok::<_, ()>(vec![0; 60_000])).expect("it is made");
        first.keep_other(Fingerprint::of([7; 32]), &vec![b'y'; 30_000], Box::default());
        first.keep_other(Fingerprint::of([7; 32]), &vec![b'y'; 35_000], Box::default());
        assert!((95_000..96_000).contains(&ring.beside.load(Ordering::Relaxed)));
        let second = version(&ring, "b", 2, 10_000);
        ring.push(2, EventType::Added, second, None, Duration::ZERO);
        assert_eq!((ring.events.len(), ring.beside.load(Ordering::Relaxed)), (1, 0));
        first.keep_other(Fingerprint::of([8; 32]), b"z", Box::default());
        assert_eq!(ring.beside.load(Ordering::Relaxed), 0);
    }

    /// All but the latest versions are kept as differences, which readers cannot tell.
    #[test]
    fn versions_of_the_past_take_little() {
        let mut ring = ring(256 << 20);
        let text = |n: u64| format!(r#"{{"resourceVersion":"","data":"{}{n}"}}"#, "text ".repeat(1000)).into_bytes();
        let mut last: Option<Arc<Version>> = None;
        for n in 1..=2 * WHOLE as u64 {
            let (labels, fields) = (Box::default(), Box::default());
            let (rv_at, fingerprint) = (r#"{"resourceVersion":""#.len(), Fingerprint::BUILTIN);
            let draft = Draft { json: text(n), given: None, rv_at, head: 0, labels, fields, fingerprint };
            let version = Arc::new(Version::new(Arc::from("a"), n, draft, Some(ring.beside())));
            ring.push(n, EventType::Modified, Arc::clone(&version), last.replace(version), Duration::ZERO);
        }
        let size = last.expect("there is one").size();
        assert!(ring.bytes < (WHOLE + WHOLE / 4) * size, "{} of {size}", ring.bytes);
        for seq in 0..ring.end() {
            let event = ring.get(seq).expect("it is kept");
            let wanted = |n: u64| text(n).len() + n.to_string().len();
            assert_eq!(event.current.json().len(), wanted(seq + 1));
            assert!(event.previous.as_ref().is_none_or(|version| version.json().len() == wanted(seq)));
        }
        assert!(ring.beside.load(Ordering::Relaxed) > WHOLE * size / 2, "texts that were made count");
        ring.limits.events = 0;
        ring.trim(Duration::ZERO);
        assert_eq!((ring.bytes, ring.beside.load(Ordering::Relaxed)), (0, 0));
    }

    /// Return a ring of events at the given revisions, each a second after the previous one.
    fn fill(limits: Limits, revisions: &[u64]) -> Ring {
        let mut ring = Ring::new(5, limits);
        for (second, revision) in revisions.iter().enumerate() {
            let current = version(&ring, &format!("k{revision}"), *revision, 10);
            ring.push(*revision, EventType::Added, current, None, Duration::from_secs(second as u64));
        }
        ring
    }

    #[test]
    fn events_are_found_by_number_and_by_revision() {
        let ring = fill(Limits::default(), &[10, 20, 20, 30]);
        let revision = |seq| ring.get(seq).map(|event| event.revision);
        assert_eq!((0..5).map(revision).collect::<Vec<_>>(), [Some(10), Some(20), Some(20), Some(30), None]);
        assert_eq!([0, 9, 10, 15, 20, 30, 99].map(|revision| ring.after(revision)), [0, 0, 1, 1, 3, 4, 4]);
        assert_eq!((ring.base(), ring.end(), ring.compacted_revision()), (0, 4, 5));
    }

    #[test]
    fn bounds_drop_the_oldest_and_numbers_stay() {
        let few = fill(Limits { events: 2, ..Limits::default() }, &[10, 20, 30, 40]);
        let young = fill(Limits { window: Duration::from_secs(1), ..Limits::default() }, &[10, 20, 30, 40]);
        for ring in [few, young] {
            assert_eq!((ring.base(), ring.end(), ring.compacted_revision()), (2, 4, 20));
            assert_eq!((ring.get(1).is_none(), ring.get(2).map(|event| event.revision)), (true, Some(30)));
        }
        let mut ring = fill(Limits { window: Duration::from_secs(9), ..Limits::default() }, &[10, 20]);
        ring.trim(Duration::from_secs(10));
        assert_eq!((ring.base(), ring.compacted_revision()), (1, 10), "time alone drops events");
        ring.trim(Duration::from_secs(99));
        assert_eq!((ring.base(), ring.end(), ring.compacted_revision()), (2, 2, 20), "the last one, too");
    }

    #[test]
    fn what_is_forgotten_may_still_be_given() {
        let mut ring = fill(Limits::default(), &[10, 20, 30]);
        ring.forget(25, 1);
        assert_eq!((ring.base(), ring.compacted_revision()), (1, 25), "a watcher stands before the second");
        ring.forget(20, 9);
        assert_eq!((ring.base(), ring.end(), ring.compacted_revision()), (3, 3, 25), "it does not go back");
    }
}
