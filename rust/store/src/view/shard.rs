//! The objects of one resource: tree, ring and watchers behind one lock.

#![allow(clippy::arithmetic_side_effects, reason = "it counts objects and bytes that are in memory")]
#![allow(clippy::indexing_slicing, reason = "places come from the structure that they lead through")]

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use hydrofoil_types::Clock;
use parking_lot::Mutex;

use crate::view::Reach;
use crate::view::interest::Interest;
use crate::view::publisher::{DELETE, LOAD, PUT, Publisher};
use crate::view::ring::Ring;
use crate::view::watcher::Watcher;
use crate::{Block, Cache, Draft, EventType, Limits, Made, Tree, Version};

/// A consistent state: the tree at a revision.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The objects.
    pub tree: Tree,
    /// The revision of the state.
    pub revision: u64,
}

/// The shared state of all shards of a view.
#[derive(Debug)]
pub(crate) struct Shared {
    /// Tokens of woken watchers. Locked after a shard's state, never before.
    pub(crate) woken: Mutex<Vec<u64>>,
    /// The bytes of all objects.
    pub(crate) bytes: AtomicUsize,
    /// The cached encodings.
    pub(crate) cache: Cache,
    /// The limit of the cache; `None` if it depends on the size of the objects.
    pub(crate) cache_limit: Option<usize>,
    /// The clock of the server.
    pub(crate) clock: Arc<Clock>,
    /// The nanoseconds that earlier processes served this state, which its history was kept for.
    pub(crate) before: AtomicU64,
    /// What other processes are told by, if there are any.
    pub(crate) publisher: OnceLock<Publisher>,
}

impl Shared {
    /// Return a version with its bytes where other processes can read them, if there are any.
    pub(crate) fn share(&self, version: Version) -> Arc<Version> {
        Arc::new(match self.publisher.get() {
            Some(publisher) => version.share(publisher.heap()),
            None => version,
        })
    }

    /// Tell other processes that everything up to a revision is applied.
    pub(crate) fn publish_progress(&self, revision: u64) {
        if let Some(publisher) = self.publisher.get() {
            publisher.progress(revision);
        }
    }

    /// Return the time that this state has been served for: history has its ages by it.
    pub(crate) fn running(&self) -> Duration {
        self.clock.elapsed() + Duration::from_nanos(self.before.load(Ordering::Relaxed))
    }
}

/// The minimum limit of the cache.
const CACHE_LEAST: usize = 16 << 20;

/// One resource.
#[derive(Debug)]
pub struct Shard {
    name: Arc<str>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) reach: Arc<Reach>,
    /// Tree, ring and watchers change together: whoever has this lock sees a state, its history and the cursors of its
    /// watchers at one revision. It is held for a look-up or a commit, never while bytes are made or sent: a slow
    /// reader would stop every write of the resource. It is the outermost lock: those of tokens, ages and batches
    /// follow it.
    pub(crate) state: Mutex<State>,
}

#[derive(Debug)]
pub(crate) struct State {
    pub(crate) tree: Tree,
    pub(crate) ring: Ring,
    pub(crate) watchers: Vec<Option<Watcher>>,
    pub(crate) free: Vec<u32>,
    pub(crate) interest: Interest,
    /// Cached past states, by the sequence number of the first event after them.
    pub(crate) past: Vec<(u64, Tree)>,
    bytes: usize,
}

impl Shard {
    /// Return an empty shard whose history begins after a revision.
    pub(crate) fn new(name: &str, shared: Arc<Shared>, reach: Arc<Reach>, begin: u64, limits: Limits) -> Self {
        let state = State {
            tree: Tree::default(),
            ring: Ring::new(begin, limits),
            watchers: Vec::new(),
            free: Vec::new(),
            interest: Interest::default(),
            past: Vec::new(),
            bytes: 0,
        };
        Self { name: Arc::from(name), shared, reach, state: Mutex::new(state) }
    }

    /// Run a decision and its changes under the lock, as one atomic step.
    pub fn transact<T>(&self, decide: impl FnOnce(&mut Transaction<'_>) -> T) -> T {
        let Self { name, shared, reach, state } = self;
        decide(&mut Transaction { name, shared, reach, state: &mut state.lock(), at: None })
    }

    /// Commit to the local log: run a decision that takes a revision for its change. Other processes are told of the
    /// commits of all shards one after the other.
    pub(crate) fn commit<T>(&self, decide: impl FnOnce(&mut Transaction<'_>) -> T) -> T {
        let publisher = self.shared.publisher.get();
        let order = publisher.map(Publisher::order);
        let made = self.transact(decide);
        if let Some(publisher) = publisher {
            publisher.progress(self.reach.revision());
        }
        drop(order);
        made
    }

    /// Record that everything up to a revision is applied.
    pub(crate) fn raise(&self, revision: u64) {
        self.reach.raise(revision);
        self.shared.publish_progress(revision);
    }

    /// Return the present version of a key.
    pub fn get(&self, key: &str) -> Option<Arc<Version>> {
        self.state.lock().tree.get(key).cloned()
    }

    /// Return the present state and its revision.
    pub fn snapshot(&self) -> Snapshot {
        let state = self.state.lock();
        Snapshot { tree: state.tree.clone(), revision: self.revision() }
    }

    /// Return the revision up to which everything is applied.
    pub fn revision(&self) -> u64 {
        self.reach.revision()
    }

    /// Return the time that the state has been served for.
    pub(crate) fn running(&self) -> Duration {
        self.shared.running()
    }

    /// Return the clock of the server.
    pub fn clock(&self) -> &Clock {
        &self.shared.clock
    }

    /// Return the number of objects, and their bytes.
    pub fn size(&self) -> (usize, usize) {
        let state = self.state.lock();
        (state.tree.len(), state.bytes)
    }

    /// Cache an encoding of a leaf, of a size in bytes.
    pub fn keep(&self, made: Made, size: usize) -> Arc<Block> {
        if self.shared.cache_limit.is_none() {
            self.shared.cache.set_limit(CACHE_LEAST + self.shared.bytes.load(Ordering::Relaxed) / 2);
        }
        self.shared.cache.add(made, size)
    }
}

/// A shard whose lock is held.
#[derive(Debug)]
pub struct Transaction<'a> {
    name: &'a Arc<str>,
    shared: &'a Shared,
    reach: &'a Reach,
    pub(crate) state: &'a mut State,
    /// The time of its events, if it is not the present one.
    pub(crate) at: Option<Duration>,
}

impl Transaction<'_> {
    /// Return the time that the state has been served for.
    pub(crate) fn running(&self) -> Duration {
        self.shared.running()
    }

    /// Tell other processes that the history ended up to a revision.
    pub(crate) fn publish_forget(&self, revision: u64) {
        if let Some(publisher) = self.shared.publisher.get() {
            publisher.forget(self.name, revision);
        }
    }

    /// Record that everything up to a revision is applied.
    pub(crate) fn raise(&self, revision: u64) {
        self.reach.raise(revision);
    }

    /// Return the present version of a key.
    pub fn get(&self, key: &str) -> Option<&Arc<Version>> {
        self.state.tree.get(key)
    }

    /// Put an object in place of the present one of its key, at a revision after all others of the shard.
    pub fn put(&mut self, revision: u64, key: Arc<str>, draft: Draft) -> Arc<Version> {
        let version = Version::new(key, revision, draft, Some(self.state.ring.beside()));
        self.put_version(self.share(version))
    }

    /// Put a version whose event other processes are told of.
    pub(crate) fn put_version(&mut self, version: Arc<Version>) -> Arc<Version> {
        let previous = self.insert(Arc::clone(&version));
        self.report_put(Arc::clone(&version), previous);
        version
    }

    /// Delete a present object, whose last state is known.
    pub(crate) fn take_out_version(&mut self, version: Arc<Version>) {
        let previous = self.state.tree.remove(version.key());
        self.weigh(0, previous.as_deref());
        self.report(version.revision(), EventType::Deleted, version, previous);
    }

    /// Return a version with its bytes where other processes can read them, if there are any.
    pub(crate) fn share(&self, version: Version) -> Arc<Version> {
        self.shared.share(version)
    }

    /// Delete a present object, at a revision after all others of the shard; return its last state at that revision.
    pub fn take_out(&mut self, revision: u64, old: &Version) -> Arc<Version> {
        let previous = self.state.tree.remove(old.key());
        self.weigh(0, previous.as_deref());
        self.report_gone(revision, old, previous)
    }

    /// Put a version into the tree without an event.
    pub(crate) fn keep(&mut self, version: Arc<Version>) -> Option<Arc<Version>> {
        if let Some(publisher) = self.shared.publisher.get() {
            publisher.version(LOAD, self.name, &version);
        }
        self.insert(version)
    }

    fn insert(&mut self, version: Arc<Version>) -> Option<Arc<Version>> {
        let size = version.size();
        let previous = self.state.tree.insert(version);
        self.weigh(size, previous.as_deref());
        previous
    }

    /// Take a version out of the tree without an event.
    pub(crate) fn discard(&mut self, key: &str) {
        if let Some(publisher) = self.shared.publisher.get() {
            publisher.discard(self.name, key);
        }
        let gone = self.state.tree.remove(key);
        self.weigh(0, gone.as_deref());
    }

    pub(crate) fn weigh(&mut self, more: usize, gone: Option<&Version>) {
        let less = gone.map_or(0, Version::size);
        self.state.bytes = self.state.bytes + more - less;
        self.shared.bytes.fetch_add(more, Ordering::Relaxed);
        self.shared.bytes.fetch_sub(less, Ordering::Relaxed);
    }

    /// Report the event of a version that is or will be in the tree.
    pub(crate) fn report_put(&mut self, version: Arc<Version>, previous: Option<Arc<Version>>) {
        let kind = if previous.is_some() { EventType::Modified } else { EventType::Added };
        self.report(version.revision(), kind, version, previous);
    }

    /// Report the event of a deletion, and return the last state at its revision.
    pub(crate) fn report_gone(&mut self, revision: u64, old: &Version, previous: Option<Arc<Version>>) -> Arc<Version> {
        let version = self.share(old.at_revision(revision, Some(self.state.ring.beside())));
        self.report(revision, EventType::Deleted, Arc::clone(&version), previous);
        version
    }

    fn report(&mut self, revision: u64, kind: EventType, version: Arc<Version>, previous: Option<Arc<Version>>) {
        if let Some(publisher) = self.shared.publisher.get() {
            publisher.version(if kind == EventType::Deleted { DELETE } else { PUT }, self.name, &version);
        }
        let State { ring, past, watchers, interest, .. } = &mut *self.state;
        let at = self.at.unwrap_or_else(|| self.shared.running());
        self.reach.date(at, revision);
        ring.push(revision, kind, version, previous, at);
        let base = ring.base();
        past.retain(|(seq, _)| *seq >= base);
        let seq = ring.end() - 1;
        let mut woken = Vec::new();
        let mut wake = |watcher: &mut Watcher| {
            if watcher.wake(seq) {
                woken.push(watcher.token);
            }
        };
        match ring.get(seq) {
            Some(event) => interest.each(event, |id| {
                if let Some(watcher) = &mut watchers[id.0 as usize] {
                    wake(watcher);
                }
            }),
            // It is larger than the whole history: all have missed it.
            None => watchers.iter_mut().flatten().for_each(wake),
        }
        if !woken.is_empty() {
            self.shared.woken.lock().extend(woken);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::testing::{draft, selector, shard};
    use crate::{Drained, Filter, WatchStart};

    fn put(shard: &Shard, revision: u64, key: &str, app: &str) -> Arc<Version> {
        shard.transact(|t| t.put(revision, Arc::from(key), draft(app, "up")))
    }

    fn remove(shard: &Shard, revision: u64, key: &str) -> Option<Arc<Version>> {
        shard.transact(|t| t.get(key).cloned().map(|old| t.take_out(revision, &old)))
    }

    #[test]
    fn objects_and_their_bytes_are_counted() {
        let shard = shard(Limits::default());
        let first = put(&shard, 1, "a/m", "x");
        put(&shard, 2, "a/n", "");
        let second = put(&shard, 3, "a/m", "longer");
        let other = shard.get("a/n").expect("it is there").size();
        assert_eq!(shard.size(), (2, second.size() + other));
        assert!(second.size() > first.size());
        let gone = remove(&shard, 4, "a/m").expect("it is there");
        assert_eq!((gone.revision(), gone.labels()), (4, second.labels()), "its last state");
        assert!(remove(&shard, 5, "a/m").is_none());
        assert!(remove(&shard, 6, "a/n").is_some());
        assert_eq!((shard.size(), shard.shared.bytes.load(Ordering::Relaxed)), ((0, 0), 0));
    }

    #[test]
    fn a_snapshot_does_not_change() {
        let shard = shard(Limits::default());
        put(&shard, 1, "a/m", "x");
        let before = shard.snapshot();
        put(&shard, 2, "a/m", "y");
        put(&shard, 3, "a/n", "y");
        let app = |tree: &Tree| tree.get("a/m").map(|version| version.labels()[0].1.to_string());
        assert_eq!((before.tree.len(), app(&before.tree).as_deref()), (1, Some("x")));
        assert_eq!((shard.snapshot().tree.len(), app(&shard.snapshot().tree).as_deref()), (2, Some("y")));
    }

    #[test]
    fn events_tell_what_was_before() {
        let shard = shard(Limits::default());
        put(&shard, 1, "a/m", "x");
        put(&shard, 2, "a/m", "y");
        remove(&shard, 3, "a/m");
        let state = shard.state.lock();
        let reported = |seq| {
            let event = state.ring.get(seq).expect("it is kept");
            (event.kind, event.revision, event.previous.as_ref().map(|version| version.revision()))
        };
        let expected =
            [(EventType::Added, 1, None), (EventType::Modified, 2, Some(1)), (EventType::Deleted, 3, Some(2))];
        assert_eq!([0, 1, 2].map(reported), expected);
    }

    #[test]
    fn watchers_are_woken_once_until_they_are_drained() {
        let shard = shard(Limits::default());
        let watch = |labels, token| {
            let filter = Filter { selector: selector("a", labels, ""), identity: Arc::from(labels) };
            shard.watch(Arc::new(filter), WatchStart::After(0), token).expect("within reach")
        };
        let (all, _) = (watch("", 7), watch("app=x", 8));
        let woken = || {
            let mut tokens = std::mem::take(&mut *shard.shared.woken.lock());
            tokens.sort_unstable();
            tokens
        };
        put(&shard, 1, "b/m", "x");
        assert_eq!(woken(), [0; 0], "it is another namespace");
        put(&shard, 2, "a/m", "x");
        put(&shard, 3, "a/n", "x");
        assert_eq!(woken(), [7, 8]);
        put(&shard, 4, "a/m", "y");
        assert_eq!(woken(), [0; 0], "they have not looked yet");
        shard.drain(all, |_| true);
        put(&shard, 5, "a/m", "x");
        assert_eq!(woken(), [7]);
        assert_eq!(shard.watchers(), 2);
        shard.unwatch(all);
        assert_eq!(shard.watchers(), 1);
    }

    /// Events of others do not make a watcher fall behind, however many the history forgets of them.
    #[test]
    fn an_idle_watcher_stays_at_the_end() {
        let shard = shard(Limits { events: 4, ..Limits::default() });
        let watch = |namespace, fields| {
            let filter = Filter { selector: selector(namespace, "", fields), identity: Arc::from(fields) };
            shard.watch(Arc::new(filter), WatchStart::State, 7).expect("within reach")
        };
        let watchers = [watch("a", ""), watch("", "phase=down"), watch("b", "metadata.name=n")];
        for id in watchers {
            assert_eq!(shard.drain(id, |_| true).0, Drained::InitialEnd);
            assert_eq!(shard.drain(id, |_| true).0, Drained::All);
        }
        for revision in 1..=20 {
            put(&shard, revision, "b/m", "x");
            shard.reach.raise(revision);
            for id in watchers {
                assert!(!shard.waits(id));
                assert_eq!(shard.seen_revision(id), Some(revision), "it has all there is for it");
            }
        }
        shard.transact(|t| t.forget(20));
        assert_eq!(shard.state.lock().ring.base(), 20, "none needs the events");
        for (id, key, phase) in [(watchers[0], "a/m", "up"), (watchers[1], "c/m", "down"), (watchers[2], "b/n", "up")] {
            let revision = shard.revision() + 1;
            shard.transact(|t| t.put(revision, Arc::from(key), draft("", phase)));
            shard.reach.raise(revision);
            for other in 1..3 {
                put(&shard, revision + other, "b/m", "x");
                shard.reach.raise(revision + other);
            }
            assert!(shard.waits(id));
            assert_eq!(shard.seen_revision(id).filter(|seen| *seen >= revision), None, "an event waits");
            let mut given = Vec::new();
            let (left, ..) = shard.drain(id, |frame| {
                given.push(frame.version.key().to_string());
                true
            });
            assert_eq!((left, given), (Drained::All, vec![key.to_owned()]));
            assert_eq!(shard.seen_revision(id), Some(shard.revision()));
        }
    }

    /// An event that the history cannot hold is one that no watcher receives.
    #[test]
    fn an_event_that_is_not_kept_ends_the_watches() {
        let shard = shard(Limits { events: 0, ..Limits::default() });
        let id = shard.watch(Arc::default(), WatchStart::State, 7).expect("within reach");
        assert_eq!((shard.drain(id, |_| true).0, shard.drain(id, |_| true).0), (Drained::InitialEnd, Drained::All));
        put(&shard, 1, "a/m", "x");
        assert_eq!(*shard.shared.woken.lock(), [7]);
        assert_eq!(shard.drain(id, |_| true).0, Drained::Lapped);
    }

    /// The limit of the cache follows the size of the objects.
    #[test]
    fn what_is_made_of_leaves_is_bounded() {
        let shard = shard(Limits::default());
        let small = shard.keep(Arc::new(1), 1 << 20);
        assert!(small.is_held());
        assert!(!shard.keep(Arc::new(2), CACHE_LEAST + 1).is_held());
    }
}
