//! All shards, and what they share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize};

use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use crate::ages::Ages;
use crate::shard::Shared;
use crate::{Cache, Limits, Shard};

/// The resources of one server.
#[derive(Debug)]
pub struct Store {
    shared: Arc<Shared>,
    shards: Mutex<FxHashMap<String, Arc<Shard>>>,
    limits: Limits,
}

impl Store {
    /// An empty store whose first write gets the revision after `start`. `cache` bounds the bytes of the encodings
    /// that are kept; `None`: half of what the objects have, and a little more.
    pub fn new(start: u64, limits: Limits, cache: Option<usize>) -> Self {
        let shared = Shared {
            revision: AtomicU64::new(start),
            woken: Mutex::new(Vec::new()),
            bytes: AtomicUsize::new(0),
            cache: Cache::new(cache.unwrap_or(0)),
            cache_limit: cache,
            ages: Mutex::new(Ages::new(limits.window)),
        };
        Self { shared: Arc::new(shared), shards: Mutex::new(FxHashMap::default()), limits }
    }

    /// The shard of a resource, made when first asked for.
    pub fn shard(&self, resource: &str) -> Arc<Shard> {
        let mut shards = self.shards.lock();
        if let Some(shard) = shards.get(resource) {
            return Arc::clone(shard);
        }
        let shard = Arc::new(Shard::new(Arc::clone(&self.shared), self.limits));
        shards.insert(resource.to_owned(), Arc::clone(&shard));
        shard
    }

    /// Whether any watcher was woken since they were last taken.
    pub fn has_woken(&self) -> bool {
        !self.shared.woken.lock().is_empty()
    }

    /// Takes the tokens of the woken watchers.
    pub fn take_woken(&self) -> Vec<u64> {
        std::mem::take(&mut *self.shared.woken.lock())
    }

    /// The latest revision.
    pub fn revision(&self) -> u64 {
        self.shared.revision.load(std::sync::atomic::Ordering::Acquire)
    }
}
