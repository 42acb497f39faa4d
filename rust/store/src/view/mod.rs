//! All shards of a server, and what they share.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use hydrofoil_types::Clock;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;

mod ages;
mod cache;
mod feed;
mod fields;
mod interest;
mod labels;
mod leaf;
mod list;
mod past;
mod reach;
mod ring;
mod shard;
mod token;
mod tree;
mod version;
mod watcher;
mod watches;

pub use cache::{Block, Cache, Made};
pub use feed::Change;
pub use fields::{FieldSelector, FieldTarget, Shown};
pub use labels::LabelSelector;
pub use leaf::Leaf;
pub use list::{Page, Part, Selector};
pub use past::Reindexed;
pub(crate) use reach::Reach;
pub use ring::{Event, EventType, Limits};
use shard::Shared;
pub use shard::{Shard, Snapshot, Transaction};
pub use token::{ContinueToken, TokenError};
pub use tree::Tree;
pub use version::{Draft, Version};
pub use watcher::{Drained, Filter, Frame, WatchStart, WatcherId};

/// What one server knows of its resources.
#[derive(Debug)]
pub struct View {
    shared: Arc<Shared>,
    shards: Mutex<FxHashMap<String, Arc<Shard>>>,
    /// What all shards share that are made from now on; `None`: each is fed for itself.
    reach: Mutex<Option<Arc<Reach>>>,
    limits: Limits,
}

impl View {
    /// An empty view. `cache` bounds the bytes of the encodings that are kept; `None`: half of what the objects have,
    /// and a little more. `clock` tells how old events are.
    pub fn new(limits: Limits, cache: Option<usize>, clock: Arc<Clock>) -> Self {
        let shared = Shared {
            woken: Mutex::new(Vec::new()),
            bytes: AtomicUsize::new(0),
            cache: Cache::new(cache.unwrap_or(0)),
            cache_limit: cache,
            clock,
        };
        Self { shared: Arc::new(shared), shards: Mutex::default(), reach: Mutex::new(None), limits }
    }

    /// Has all shards that are made from now on take their revisions from one counter.
    pub(crate) fn count_from(&self, start: u64) -> Arc<Reach> {
        let reach = Arc::new(Reach::giving(start, self.limits.window));
        *self.reach.lock() = Some(Arc::clone(&reach));
        reach
    }

    /// The shard of a resource, made when first asked for.
    pub fn shard(&self, resource: &str) -> Arc<Shard> {
        let mut shards = self.shards.lock();
        if let Some(shard) = shards.get(resource) {
            return Arc::clone(shard);
        }
        let counter = self.reach.lock().clone();
        let reach = counter.unwrap_or_else(|| Arc::new(Reach::fed(self.limits.window)));
        let shard = Arc::new(Shard::new(Arc::clone(&self.shared), reach, self.limits));
        shards.insert(resource.to_owned(), Arc::clone(&shard));
        shard
    }

    /// Ends all history: states and watches can only begin with what is present.
    pub fn compact(&self) {
        let shards: Vec<_> = self.shards.lock().values().cloned().collect();
        for shard in shards {
            shard.compact();
        }
    }

    /// Whether any watcher was woken since they were last taken.
    pub fn has_woken(&self) -> bool {
        !self.shared.woken.lock().is_empty()
    }

    /// Takes the tokens of the woken watchers.
    pub fn take_woken(&self) -> Vec<u64> {
        std::mem::take(&mut *self.shared.woken.lock())
    }
}
