//! The log of a view without an external source: it checks preconditions and assigns revisions inside the lock of a
//! shard.

use std::sync::Arc;

use crate::view::{Reach, Transaction};
use crate::{Checkpoint, Draft, Shard, StoreError, Version, View};

/// A counter of revisions for all shards of a view.
#[derive(Clone, Debug)]
pub struct Local {
    reach: Arc<Reach>,
}

impl Local {
    /// Return the log of a view that has no shards yet; its first write gets the revision after `start`.
    pub fn open(view: &View, start: u64) -> Self {
        Self { reach: view.count_from(start) }
    }

    /// Store a new object.
    pub fn create(&self, shard: &Shard, key: &str, draft: Draft) -> Result<Arc<Version>, StoreError> {
        shard.commit(|shard| {
            if shard.get(key).is_some() {
                return Err(StoreError::Exists);
            }
            Ok(shard.put(self.reach.take(), Arc::from(key), draft))
        })
    }

    /// Replace an object if it is at revision `expected`.
    pub fn update(&self, shard: &Shard, key: &str, expected: u64, draft: Draft) -> Result<Arc<Version>, StoreError> {
        shard.commit(|shard| {
            let key = Arc::clone(present(shard, key, expected)?.key());
            Ok(shard.put(self.reach.take(), key, draft))
        })
    }

    /// Delete an object if it is at revision `expected`; return its last state at the revision of the deletion.
    pub fn delete(&self, shard: &Shard, key: &str, expected: u64) -> Result<Arc<Version>, StoreError> {
        shard.commit(|shard| {
            let old = Arc::clone(present(shard, key, expected)?);
            Ok(shard.take_out(self.reach.take(), &old))
        })
    }

    /// Return to a state of the view: each difference becomes an event with a new revision. `same` reports whether two
    /// versions are of one object, and not of two with the same name. Return the number of differences.
    pub fn restore(&self, view: &View, state: &Checkpoint, same: impl Fn(&Version, &Version) -> bool) -> usize {
        view.restore(state, &self.reach, same)
    }

    /// Return the latest revision.
    pub fn revision(&self) -> u64 {
        self.reach.revision()
    }
}

/// Return the version that a write replaces, if it is at `expected`.
fn present<'a>(shard: &'a Transaction<'_>, key: &str, expected: u64) -> Result<&'a Arc<Version>, StoreError> {
    let old = shard.get(key).ok_or(StoreError::NotFound)?;
    if old.revision() != expected {
        return Err(StoreError::Conflict { current: old.revision() });
    }
    Ok(old)
}
