//! The log of a view that is its own truth: preconditions are judged and revisions given inside the lock of a shard.

use std::sync::Arc;

use crate::view::{Reach, Transaction};
use crate::{Draft, Shard, StoreError, Version, View};

/// A counter of revisions for all shards of a view.
#[derive(Debug)]
pub struct Local {
    reach: Arc<Reach>,
}

impl Local {
    /// The log of a view that has no shards yet; its first write gets the revision after `start`.
    pub fn open(view: &View, start: u64) -> Self {
        Self { reach: view.count_from(start) }
    }

    /// Stores a new object.
    pub fn create(&self, shard: &Shard, key: &str, draft: Draft) -> Result<Arc<Version>, StoreError> {
        shard.transact(|shard| {
            if shard.get(key).is_some() {
                return Err(StoreError::Exists);
            }
            Ok(shard.put(self.reach.take(), Arc::from(key), draft))
        })
    }

    /// Replaces an object that stands at `expected`.
    pub fn update(&self, shard: &Shard, key: &str, expected: u64, draft: Draft) -> Result<Arc<Version>, StoreError> {
        shard.transact(|shard| {
            let key = Arc::clone(present(shard, key, expected)?.key());
            Ok(shard.put(self.reach.take(), key, draft))
        })
    }

    /// Takes out an object that stands at `expected`; gives its last state at the revision of the deletion.
    pub fn delete(&self, shard: &Shard, key: &str, expected: u64) -> Result<Arc<Version>, StoreError> {
        shard.transact(|shard| {
            let old = Arc::clone(present(shard, key, expected)?);
            Ok(shard.take_out(self.reach.take(), &old))
        })
    }

    /// The latest revision.
    pub fn revision(&self) -> u64 {
        self.reach.revision()
    }
}

/// The version that a write was made from.
fn present<'a>(shard: &'a Transaction<'_>, key: &str, expected: u64) -> Result<&'a Arc<Version>, StoreError> {
    let old = shard.get(key).ok_or(StoreError::NotFound)?;
    if old.revision() != expected {
        return Err(StoreError::Conflict { current: old.revision() });
    }
    Ok(old)
}
