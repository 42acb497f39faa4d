//! The objects of one resource: tree, ring and watchers behind one lock.

#![allow(clippy::arithmetic_side_effects, reason = "it counts objects and bytes that are in memory")]
#![allow(clippy::indexing_slicing, reason = "places come from the structure that they lead through")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hydrofoil_types::Clock;
use parking_lot::Mutex;

use crate::view::Reach;
use crate::view::interest::Interest;
use crate::view::ring::Ring;
use crate::view::watcher::Watcher;
use crate::{Block, Cache, Draft, EventType, Limits, Made, Tree, Version};

/// A consistent state: the tree as it was at a revision.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The objects.
    pub tree: Tree,
    /// The revision of the state.
    pub revision: u64,
}

/// What all shards of a view share.
#[derive(Debug)]
pub(crate) struct Shared {
    /// Tokens of woken watchers. Locked after a shard's state, never before.
    pub(crate) woken: Mutex<Vec<u64>>,
    /// The bytes of all objects.
    pub(crate) bytes: AtomicUsize,
    /// The encodings that are kept for readers.
    pub(crate) cache: Cache,
    /// The bound of the cache; `None`: by the bytes of the objects.
    pub(crate) cache_limit: Option<usize>,
    /// The time of the server.
    pub(crate) clock: Arc<Clock>,
}

/// What the cache of a small store may hold.
const CACHE_LEAST: usize = 16 << 20;

/// One resource.
#[derive(Debug)]
pub struct Shard {
    shared: Arc<Shared>,
    pub(crate) reach: Arc<Reach>,
    pub(crate) state: Mutex<State>,
}

#[derive(Debug)]
pub(crate) struct State {
    pub(crate) tree: Tree,
    pub(crate) ring: Ring,
    pub(crate) watchers: Vec<Option<Watcher>>,
    pub(crate) free: Vec<u32>,
    pub(crate) interest: Interest,
    /// States of the past that were asked for, by the sequence number of the first event after them.
    pub(crate) past: Vec<(u64, Tree)>,
    bytes: usize,
}

impl Shard {
    pub(crate) fn new(shared: Arc<Shared>, reach: Arc<Reach>, limits: Limits) -> Self {
        let state = State {
            tree: Tree::default(),
            ring: Ring::new(reach.revision(), limits),
            watchers: Vec::new(),
            free: Vec::new(),
            interest: Interest::default(),
            past: Vec::new(),
            bytes: 0,
        };
        Self { shared, reach, state: Mutex::new(state) }
    }

    /// Decides and applies what was decided under the lock: nobody sees what is between.
    pub fn transact<T>(&self, decide: impl FnOnce(&mut Transaction<'_>) -> T) -> T {
        decide(&mut Transaction { shared: &self.shared, state: &mut self.state.lock() })
    }

    /// The present version of a key.
    pub fn get(&self, key: &str) -> Option<Arc<Version>> {
        self.state.lock().tree.get(key).cloned()
    }

    /// The present state and its revision.
    pub fn snapshot(&self) -> Snapshot {
        let state = self.state.lock();
        Snapshot { tree: state.tree.clone(), revision: self.revision() }
    }

    /// How far the shard is: everything up to this revision has been applied.
    pub fn revision(&self) -> u64 {
        self.reach.revision()
    }

    /// The time of the server that the shard belongs to.
    pub fn clock(&self) -> &Clock {
        &self.shared.clock
    }

    /// How many objects there are, and their bytes.
    pub fn size(&self) -> (usize, usize) {
        let state = self.state.lock();
        (state.tree.len(), state.bytes)
    }

    /// Keeps what was made of a leaf, of a size in bytes, for the next reader.
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
    shared: &'a Shared,
    pub(crate) state: &'a mut State,
}

impl Transaction<'_> {
    /// The present version of a key.
    pub fn get(&self, key: &str) -> Option<&Arc<Version>> {
        self.state.tree.get(key)
    }

    /// Puts an object in the place of the present one of its key, at a revision after all others of the shard.
    pub fn put(&mut self, revision: u64, key: Arc<str>, draft: Draft) -> Arc<Version> {
        let version = Arc::new(Version::new(key, revision, draft, Some(self.state.ring.beside())));
        let previous = self.keep(Arc::clone(&version));
        let kind = if previous.is_some() { EventType::Modified } else { EventType::Added };
        self.tell(revision, kind, Arc::clone(&version), previous);
        version
    }

    /// Takes out an object that is there, at a revision after all others of the shard; gives its last state at that.
    pub fn take_out(&mut self, revision: u64, old: &Version) -> Arc<Version> {
        let version = Arc::new(old.at_revision(revision, Some(self.state.ring.beside())));
        let previous = self.state.tree.remove(version.key());
        self.weigh(0, previous.as_deref());
        self.tell(revision, EventType::Deleted, Arc::clone(&version), previous);
        version
    }

    /// Puts a version into the tree and tells nobody.
    pub(crate) fn keep(&mut self, version: Arc<Version>) -> Option<Arc<Version>> {
        let size = version.size();
        let previous = self.state.tree.insert(version);
        self.weigh(size, previous.as_deref());
        previous
    }

    fn weigh(&mut self, more: usize, gone: Option<&Version>) {
        let less = gone.map_or(0, Version::size);
        self.state.bytes = self.state.bytes + more - less;
        self.shared.bytes.fetch_add(more, Ordering::Relaxed);
        self.shared.bytes.fetch_sub(less, Ordering::Relaxed);
    }

    fn tell(&mut self, revision: u64, kind: EventType, version: Arc<Version>, previous: Option<Arc<Version>>) {
        let State { ring, past, watchers, interest, .. } = &mut *self.state;
        ring.push(revision, kind, version, previous, self.shared.clock.elapsed());
        let base = ring.base();
        past.retain(|(seq, _)| *seq >= base);
        let Some(event) = ring.get(ring.end() - 1) else { return };
        let mut woken = Vec::new();
        interest.each(event, |id| {
            if let Some(watcher) = watchers[id.0 as usize].as_mut().filter(|w| !w.woken) {
                watcher.woken = true;
                woken.push(watcher.token);
            }
        });
        if !woken.is_empty() {
            self.shared.woken.lock().extend(woken);
        }
    }
}
