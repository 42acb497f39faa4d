//! The objects of one resource: tree, ring and watchers behind one lock.

#![allow(clippy::arithmetic_side_effects, reason = "it counts objects and bytes that are in memory")]
#![allow(clippy::indexing_slicing, reason = "places come from the structure that they lead through")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use hydrofoil_types::SmolStr;
use parking_lot::Mutex;

use crate::ages::Ages;
use crate::interest::Interest;
use crate::ring::Ring;
use crate::watcher::{Watcher, frame};
use crate::{
    Block, Cache, Draft, Drained, EventType, Filter, Frame, Made, Page, Selector, StoreError, Tree, Version,
    WatchStart, WatcherId,
};

pub use crate::ring::Limits;

/// How many rebuilt states a shard keeps for walks that go on.
const KEPT_STATES: usize = 16;

/// A consistent state: the tree as it was at a revision.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The objects.
    pub tree: Tree,
    /// The revision of the state.
    pub revision: u64,
}

/// A state whose objects have other values of field selectors, and the first event that it does not have.
#[derive(Debug)]
pub struct Reindexed {
    tree: Tree,
    seq: u64,
}

/// What all shards of a store share.
#[derive(Debug)]
pub(crate) struct Shared {
    /// The latest revision; taken and raised only inside a shard's lock.
    pub(crate) revision: AtomicU64,
    /// Tokens of woken watchers. Locked after a shard's state, never before.
    pub(crate) woken: Mutex<Vec<u64>>,
    /// The bytes of all objects.
    pub(crate) bytes: AtomicUsize,
    /// The encodings that are kept for readers.
    pub(crate) cache: Cache,
    /// The bound of the cache; `None`: by the bytes of the objects.
    pub(crate) cache_limit: Option<usize>,
    /// When revisions were current. Locked after a shard's state, never before.
    pub(crate) ages: Mutex<Ages>,
}

/// What the cache of a small store may hold.
const CACHE_LEAST: usize = 16 << 20;

/// One resource.
#[derive(Debug)]
pub struct Shard {
    shared: Arc<Shared>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    tree: Tree,
    ring: Ring,
    watchers: Vec<Option<Watcher>>,
    free: Vec<u32>,
    interest: Interest,
    /// States of the past that were asked for, by the sequence number of the first event after them.
    past: Vec<(u64, Tree)>,
    bytes: usize,
}

impl Shard {
    pub(crate) fn new(shared: Arc<Shared>, limits: Limits) -> Self {
        let start = shared.revision.load(Ordering::Acquire);
        let state = State {
            tree: Tree::default(),
            ring: Ring::new(start, limits),
            watchers: Vec::new(),
            free: Vec::new(),
            interest: Interest::default(),
            past: Vec::new(),
            bytes: 0,
        };
        Self { shared, state: Mutex::new(state) }
    }

    /// Stores a new object.
    pub fn create(&self, key: &str, draft: Draft) -> Result<Arc<Version>, StoreError> {
        let mut state = self.state.lock();
        if state.tree.get(key).is_some() {
            return Err(StoreError::Exists);
        }
        let revision = self.take_revision();
        let version = Arc::new(Version::new(Arc::from(key), revision, draft, Some(state.ring.beside())));
        state.apply(&self.shared, revision, EventType::Added, Arc::clone(&version));
        Ok(version)
    }

    /// Replaces an object that stands at `expected`.
    pub fn update(&self, key: &str, expected: u64, draft: Draft) -> Result<Arc<Version>, StoreError> {
        let mut state = self.state.lock();
        let old = state.expect(key, expected)?;
        let revision = self.take_revision();
        let version = Arc::new(Version::new(Arc::clone(old.key()), revision, draft, Some(state.ring.beside())));
        state.apply(&self.shared, revision, EventType::Modified, Arc::clone(&version));
        Ok(version)
    }

    /// Takes out an object that stands at `expected`; gives its last state at the revision of the deletion.
    pub fn delete(&self, key: &str, expected: u64) -> Result<Arc<Version>, StoreError> {
        let mut state = self.state.lock();
        let old = state.expect(key, expected)?;
        let revision = self.take_revision();
        let version = Arc::new(old.at_revision(revision, Some(state.ring.beside())));
        state.apply(&self.shared, revision, EventType::Deleted, Arc::clone(&version));
        Ok(version)
    }

    /// The present version of a key.
    pub fn get(&self, key: &str) -> Option<Arc<Version>> {
        self.state.lock().tree.get(key).cloned()
    }

    /// The present state and the latest revision.
    pub fn snapshot(&self) -> Snapshot {
        let state = self.state.lock();
        Snapshot { tree: state.tree.clone(), revision: self.revision() }
    }

    /// The present state for a reader who may come back to its revision: one that is not about to expire.
    pub fn lasting_snapshot(&self) -> Snapshot {
        let state = self.state.lock();
        Snapshot { tree: state.tree.clone(), revision: self.lasting_revision(Instant::now()) }
    }

    fn lasting_revision(&self, now: Instant) -> u64 {
        let mut ages = self.shared.ages.lock();
        let mut revision = self.revision();
        if ages.is_due(now, revision) {
            revision = self.take_revision();
        }
        ages.mark(now, revision);
        revision
    }

    /// The state at a revision of the history window.
    pub fn snapshot_at(&self, revision: u64) -> Result<Snapshot, StoreError> {
        let mut state = self.state.lock();
        let current = self.revision();
        if revision > current {
            return Err(StoreError::Future { asked: revision, current });
        }
        let now = Instant::now();
        state.ring.trim(now);
        let oldest = state.ring.compacted().max(self.shared.ages.lock().oldest(now));
        // Revision 1 is the empty store that every run begins with; it expires with the first event.
        let beginning = revision == 1 && state.ring.base() == 0;
        if revision < oldest && !beginning {
            return Err(StoreError::Expired { asked: revision, oldest });
        }
        Ok(Snapshot { tree: state.tree_at(revision), revision })
    }

    /// The latest revision of the store.
    pub fn revision(&self) -> u64 {
        self.shared.revision.load(Ordering::Acquire)
    }

    /// Makes the state with other values of field selectors. Takes as long as there are objects, and no lock meanwhile.
    pub fn reindexed(&self, fields: impl Fn(&Version) -> Box<[SmolStr]>) -> Reindexed {
        let (mut tree, seq) = {
            let state = self.state.lock();
            (state.tree.clone(), state.ring.end())
        };
        let snapshot = Snapshot { tree: tree.clone(), revision: 0 };
        Page::new(snapshot, Selector::default(), "", 0).take(|v| {
            drop(tree.insert(Arc::new(v.with_fields(fields(v)))));
            true
        });
        Reindexed { tree, seq }
    }

    /// Puts a state with other values of field selectors in the place of the present one, without an event; what was
    /// written since it was made is added. False when the history does not tell that any more: then it has to be made
    /// again.
    pub fn adopt(&self, made: Reindexed, fields: impl Fn(&Version) -> Box<[SmolStr]>) -> bool {
        let mut state = self.state.lock();
        if made.seq < state.ring.base() {
            return false;
        }
        let Reindexed { mut tree, mut seq } = made;
        while let Some(event) = state.ring.get(seq) {
            let key = event.current.key();
            match state.tree.get(key) {
                Some(version) => drop(tree.insert(Arc::new(version.with_fields(fields(version))))),
                None => drop(tree.remove(key)),
            }
            seq += 1;
        }
        state.tree = tree;
        true
    }

    /// How many objects there are, and their bytes.
    pub fn size(&self) -> (usize, usize) {
        let state = self.state.lock();
        (state.tree.len(), state.bytes)
    }

    /// Adds a watcher that its owner knows as `token`. It is woken at once, to give what is there already.
    pub fn watch(&self, filter: Arc<Filter>, start: WatchStart, token: u64) -> Result<WatcherId, StoreError> {
        let mut state = self.state.lock();
        state.ring.trim(Instant::now());
        let (next, initial, seen) = match start {
            WatchStart::After(revision) => {
                if revision < state.ring.compacted() {
                    return Err(StoreError::Expired { asked: revision, oldest: state.ring.compacted() });
                }
                (state.ring.after(revision), None, revision)
            }
            WatchStart::State => {
                let snapshot = Snapshot { tree: state.tree.clone(), revision: self.revision() };
                let seen = snapshot.revision;
                (state.ring.end(), Some(Page::new(snapshot, filter.selector.clone(), "", 0)), seen)
            }
        };
        let slot = state.free.pop().unwrap_or_else(|| {
            state.watchers.push(None);
            state.watchers.len() as u32 - 1
        });
        let id = WatcherId(slot);
        state.interest.add(&filter.selector, id);
        state.watchers[slot as usize] = Some(Watcher { filter, next, initial, woken: false, token, seen });
        Ok(id)
    }

    /// Takes a watcher out.
    pub fn unwatch(&self, id: WatcherId) {
        let mut state = self.state.lock();
        if let Some(watcher) = state.watchers[id.0 as usize].take() {
            state.interest.remove(&watcher.filter.selector, id);
            state.free.push(id.0);
        }
    }

    /// How many watchers there are.
    pub fn watchers(&self) -> usize {
        let state = self.state.lock();
        state.watchers.len() - state.free.len()
    }

    /// The cursor of a watcher: what it stands at decides what a drain gives. `None` while the initial
    /// state is being given, which no two watchers share.
    pub fn cursor(&self, id: WatcherId) -> Option<(u64, Arc<Filter>)> {
        let state = self.state.lock();
        let watcher = state.watchers[id.0 as usize].as_ref()?;
        watcher.initial.is_none().then(|| (watcher.next, Arc::clone(&watcher.filter)))
    }

    /// The end of the ring: a cursor there has seen everything.
    pub fn end(&self) -> u64 {
        self.state.lock().ring.end()
    }

    /// The revision up to which a watcher has been told everything. `None` while the initial state is
    /// being given: until its end nothing can be promised.
    pub fn seen(&self, id: WatcherId) -> Option<u64> {
        let state = self.state.lock();
        let watcher = state.watchers[id.0 as usize].as_ref().filter(|w| w.initial.is_none())?;
        let all = watcher.next >= state.ring.end();
        Some(if all { self.revision().max(watcher.seen) } else { watcher.seen })
    }

    /// Moves a watcher to where another of its kind was drained to.
    pub fn advance(&self, id: WatcherId, next: u64, seen: u64) {
        let mut state = self.state.lock();
        if let Some(watcher) = &mut state.watchers[id.0 as usize] {
            watcher.next = next;
            watcher.seen = watcher.seen.max(seen);
            watcher.woken = false;
        }
    }

    /// Gives waiting events to `give` until it answers false. The answer tells what is left, where the cursor
    /// stands and the revision of the last event given.
    pub fn drain(&self, id: WatcherId, mut give: impl FnMut(&Frame) -> bool) -> (Drained, u64, u64) {
        let mut state = self.state.lock();
        let State { ring, watchers, .. } = &mut *state;
        let Some(watcher) = &mut watchers[id.0 as usize] else { return (Drained::All, 0, 0) };
        watcher.woken = false;
        if let Some(page) = &mut watcher.initial {
            page.take(|v| give(&added(v)));
            if !page.is_done() {
                return (Drained::More, watcher.next, watcher.seen);
            }
            watcher.initial = None;
            return (Drained::InitialEnd, watcher.next, watcher.seen);
        }
        if watcher.next < ring.base() {
            return (Drained::Lapped, watcher.next, watcher.seen);
        }
        let filter = Arc::clone(&watcher.filter);
        while let Some(event) = ring.get(watcher.next) {
            watcher.next += 1;
            if event.revision <= watcher.seen {
                continue;
            }
            watcher.seen = event.revision;
            let Some(frame) = frame(&filter.selector, event) else { continue };
            if !give(&frame) {
                break;
            }
        }
        let left = if watcher.next < ring.end() { Drained::More } else { Drained::All };
        (left, watcher.next, watcher.seen)
    }

    /// Keeps what was made of a leaf, of a size in bytes, for the next reader.
    pub fn keep(&self, made: Made, size: usize) -> Arc<Block> {
        if self.shared.cache_limit.is_none() {
            self.shared.cache.set_limit(CACHE_LEAST + self.shared.bytes.load(Ordering::Relaxed) / 2);
        }
        self.shared.cache.add(made, size)
    }

    /// Gives `look` the versions that have to be known in the form of a watcher before its waiting events can be
    /// drained, and whether their fields decide about that, until it answers false. The cursor stays.
    pub fn peek(&self, id: WatcherId, mut look: impl FnMut(&Arc<Version>, bool) -> bool) {
        let state = self.state.lock();
        let Some(watcher) = &state.watchers[id.0 as usize] else { return };
        let selector = &watcher.filter.selector;
        let undecided = |version: &Version| !selector.fields.knows(version);
        if let Some(page) = &watcher.initial {
            return page.clone().take(|v| look(v, undecided(v)));
        }
        let mut next = watcher.next.max(state.ring.base());
        while let Some(event) = state.ring.get(next) {
            next += 1;
            if event.revision <= watcher.seen {
                continue;
            }
            let go_on = if selector.fields.is_viewed() {
                let was = event.previous.as_ref().filter(|previous| selector.matches(previous));
                let is = (event.kind != EventType::Deleted || was.is_some()) && selector.matches(&event.current);
                was.into_iter().chain(is.then_some(&event.current)).all(|v| look(v, undecided(v)))
            } else {
                frame(selector, event).is_none_or(|f| look(f.source.as_ref().unwrap_or(&f.version), false))
            };
            if !go_on {
                return;
            }
        }
    }

    fn take_revision(&self) -> u64 {
        self.shared.revision.fetch_add(1, Ordering::AcqRel) + 1
    }
}

/// An object of the initial state as an event.
fn added(version: &Arc<Version>) -> Frame {
    Frame { kind: EventType::Added, version: Arc::clone(version), revision: version.revision(), source: None }
}

impl State {
    fn expect(&self, key: &str, expected: u64) -> Result<Arc<Version>, StoreError> {
        let old = self.tree.get(key).ok_or(StoreError::NotFound)?;
        if old.revision() != expected {
            return Err(StoreError::Conflict { current: old.revision() });
        }
        Ok(Arc::clone(old))
    }

    fn apply(&mut self, shared: &Shared, revision: u64, kind: EventType, version: Arc<Version>) {
        let previous = if kind == EventType::Deleted {
            self.tree.remove(version.key())
        } else {
            self.bytes += version.size();
            shared.bytes.fetch_add(version.size(), Ordering::Relaxed);
            self.tree.insert(Arc::clone(&version))
        };
        let gone = previous.as_ref().map_or(0, |p| p.size());
        self.bytes -= gone;
        shared.bytes.fetch_sub(gone, Ordering::Relaxed);
        self.ring.push(revision, kind, version, previous);
        let base = self.ring.base();
        self.past.retain(|(seq, _)| *seq >= base);
        let event = self.ring.get(self.ring.end() - 1);
        let Some(event) = event else { return };
        let mut woken = Vec::new();
        let watchers = &mut self.watchers;
        self.interest.each(event, |id| {
            if let Some(watcher) = watchers[id.0 as usize].as_mut().filter(|w| !w.woken) {
                watcher.woken = true;
                woken.push(watcher.token);
            }
        });
        if !woken.is_empty() {
            shared.woken.lock().extend(woken);
        }
    }

    /// The tree at a revision within reach: the present one with the later events undone.
    fn tree_at(&mut self, revision: u64) -> Tree {
        let seq = self.ring.after(revision);
        if seq == self.ring.end() {
            return self.tree.clone();
        }
        if let Some(at) = self.past.iter().position(|(s, _)| *s == seq) {
            let kept = self.past.remove(at);
            let tree = kept.1.clone();
            self.past.push(kept);
            return tree;
        }
        // The nearest later state that is kept needs the fewest undone events.
        let (mut at, mut tree) = self
            .past
            .iter()
            .filter(|(s, _)| *s > seq)
            .min_by_key(|(s, _)| *s)
            .map_or_else(|| (self.ring.end(), self.tree.clone()), |(s, t)| (*s, t.clone()));
        while at > seq {
            at -= 1;
            let event = self.ring.get(at).expect("events after a state within reach are kept");
            match &event.previous {
                Some(previous) => drop(tree.insert(Arc::clone(previous))),
                None => drop(tree.remove(event.current.key())),
            }
        }
        if self.past.len() >= KEPT_STATES {
            self.past.remove(0);
        }
        self.past.push((seq, tree.clone()));
        tree
    }
}
