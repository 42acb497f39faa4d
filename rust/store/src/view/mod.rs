//! All shards of a server, and their shared state.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use hydrofoil_types::Clock;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;

mod ages;
mod block;
mod cache;
mod checkpoint;
mod column;
mod dates;
mod feed;
mod fields;
mod interest;
mod json;
mod labels;
mod leaf;
mod list;
mod logged;
mod mirror;
mod past;
mod publisher;
mod reach;
mod ring;
mod saved;
mod shard;
#[cfg(test)]
mod testing;
mod token;
mod tree;
mod version;
mod watcher;
mod watches;

pub use cache::{Block, Cache, Made};
pub use checkpoint::Checkpoint;
pub use feed::Change;
pub use fields::{FieldSelector, FieldTarget, Shown, field_terms};
pub use labels::{LabelSelector, is_requirement};
pub use leaf::{BlockKey, Leaf};
pub use list::{Page, Part, Selector};
pub use mirror::Mirror;
pub use past::Reindexed;
pub use publisher::Attachment;
pub(crate) use reach::Reach;
pub use ring::{Event, EventType, Limits};
pub use saved::SavedError;
use shard::Shared;
pub use shard::{Shard, Snapshot, Transaction};
pub use token::{ContinueToken, TokenError};
pub use tree::{Difference, Tree};
pub use version::{Draft, Version};
pub use watcher::{Drained, Filter, Frame, WatchStart, WatcherId};

/// The progress that all shards of a view share.
#[derive(Clone, Debug)]
struct Common {
    reach: Arc<Reach>,
    /// The revision after which the history of a new shard begins; `None` if that is the present one.
    begin: Option<u64>,
}

/// The resources of one server.
#[derive(Debug)]
pub struct View {
    shared: Arc<Shared>,
    /// Held for a look-up only. A new shard is made without it, since that asks the progress of the others; who comes
    /// second takes the shard that the first one made, so that there is never a second one of a resource.
    shards: Mutex<FxHashMap<String, Arc<Shard>>>,
    /// The common revisions of all shards made from now on; `None` if each shard has a feed.
    reach: Mutex<Option<Common>>,
    limits: Limits,
}

impl View {
    /// Return an empty view. `cache` limits the bytes of cached encodings; `None` means half the size of the objects,
    /// and a little more. `clock` determines the age of events.
    pub fn new(limits: Limits, cache: Option<usize>, clock: Arc<Clock>) -> Self {
        let shared = Shared {
            woken: Mutex::new(Vec::new()),
            bytes: AtomicUsize::new(0),
            cache: Cache::new(cache.unwrap_or(0)),
            cache_limit: cache,
            clock,
            before: AtomicU64::new(0),
            publisher: OnceLock::new(),
        };
        Self { shared: Arc::new(shared), shards: Mutex::default(), reach: Mutex::new(None), limits }
    }

    /// Make all shards created from now on share one counter of revisions.
    pub(crate) fn count_from(&self, start: u64) -> Arc<Reach> {
        let reach = Arc::new(Reach::giving(start, self.limits.window));
        *self.reach.lock() = Some(Common { reach: Arc::clone(&reach), begin: Some(start) });
        reach
    }

    /// Return the shard of a resource, created on first use.
    pub fn shard(&self, resource: &str) -> Arc<Shard> {
        if let Some(shard) = self.shards.lock().get(resource) {
            return Arc::clone(shard);
        }
        let (reach, begin) = self.new_reach();
        let mut shards = self.shards.lock();
        if let Some(shard) = shards.get(resource) {
            return Arc::clone(shard);
        }
        let shard = Arc::new(Shard::new(resource, Arc::clone(&self.shared), reach, begin, self.limits));
        shards.insert(resource.to_owned(), Arc::clone(&shard));
        shard
    }

    /// Return the progress of a new shard, and the revision after which its history begins.
    fn new_reach(&self) -> (Arc<Reach>, u64) {
        let common = self.reach.lock().clone();
        let own = || Common { reach: Arc::new(Reach::of_feed(self.limits.window)), begin: None };
        let Common { reach, begin } = common.unwrap_or_else(own);
        let expired = || reach.expired_revision(self.shared.running()).unwrap_or_else(|| self.expired_revision());
        let begin = begin.map_or_else(|| reach.revision(), |begin| begin.max(expired()));
        (reach, begin)
    }

    /// Return the revision after which the history of a shard begins that is new.
    pub(crate) fn begin_of_new(&self) -> u64 {
        self.new_reach().1
    }

    /// Return all shards with their names.
    pub(crate) fn all_shards(&self) -> Vec<(String, Arc<Shard>)> {
        self.shards.lock().iter().map(|(name, shard)| (name.clone(), Arc::clone(shard))).collect()
    }

    /// Drop a shard, whose objects no longer count.
    pub fn forget(&self, resource: &str) {
        let found = self.shards.lock().remove(resource);
        if let Some(shard) = found {
            self.shared.bytes.fetch_sub(shard.size().1, Ordering::Relaxed);
        }
    }

    /// End all history: states and watches can only begin at the present.
    pub fn compact(&self) {
        let shards: Vec<_> = self.shards.lock().values().cloned().collect();
        for shard in shards {
            shard.compact();
        }
        self.forget_before_now();
        self.publish_present();
    }

    /// Report whether any watcher was woken since the last call of `take_woken`.
    pub fn has_woken(&self) -> bool {
        !self.shared.woken.lock().is_empty()
    }

    /// Take the tokens of the woken watchers.
    pub fn take_woken(&self) -> Vec<u64> {
        std::mem::take(&mut *self.shared.woken.lock())
    }
}
