//! A conditional write: a request to a log, or an event of the feed of another server.

use std::sync::Arc;

use hydrofoil_store as store;
use hydrofoil_store::{Local, Version};
use parking_lot::Mutex;

use super::draft::Draft;
use crate::error::{Error, Result};
use crate::frame::Frame;
use crate::kind::ObjectKind;
use crate::shard::Shard;
use crate::stored::{Stored, managed_fields};

/// The change of the object of one key.
#[derive(Debug)]
pub struct Change {
    kind: Arc<dyn ObjectKind>,
    key: Arc<str>,
    /// The version that the write replaces; `None` if the object must not exist.
    old: Option<Arc<Version>>,
    /// The object in its stored form; `None` if it is deleted.
    /// It is taken by the commit, which is done once: a change that is committed again has nothing to write.
    draft: Mutex<Option<store::Draft>>,
    deletes: bool,
    unchanged: bool,
}

impl Change {
    fn new(kind: &Arc<dyn ObjectKind>, key: Arc<str>, old: Option<&Stored>, draft: Option<store::Draft>) -> Self {
        let old = old.map(|old| Arc::clone(old.version()));
        let (deletes, draft) = (draft.is_none(), Mutex::new(draft));
        Self { kind: Arc::clone(kind), key, old, draft, deletes, unchanged: false }
    }

    /// Return the creation of an object.
    pub fn create(draft: &mut Draft) -> Self {
        let (key, stored) = (draft.key(), draft.to_stored());
        Self::new(&draft.kind, Arc::from(key), None, Some(stored))
    }

    /// Return the replacement of `old`.
    pub fn update(old: &Stored, draft: &mut Draft) -> Self {
        let (version, new) = (old.version(), draft.to_stored());
        let unchanged = version.same_content(&new) || only_times_differ(version, &new);
        Self { unchanged, ..Self::new(&draft.kind, Arc::clone(version.key()), Some(old), Some(new)) }
    }

    /// Return the deletion of `old`.
    pub fn delete(old: &Stored) -> Self {
        Self::new(old.kind(), Arc::clone(old.version().key()), Some(old), None)
    }

    /// Return the write that another process asks for; `old` is the version that it replaces or deletes.
    pub fn of_request(
        kind: &Arc<dyn ObjectKind>,
        key: Arc<str>,
        old: Option<Arc<Version>>,
        draft: Option<store::Draft>,
    ) -> Self {
        let (deletes, draft) = (draft.is_none(), Mutex::new(draft));
        Self { kind: Arc::clone(kind), key, old, draft, deletes, unchanged: false }
    }

    /// Return the version that the write made at a revision, outside of any store.
    pub fn make_version(&self, revision: u64) -> Option<Arc<Version>> {
        let draft = self.draft.lock().take().or_else(|| self.old.as_ref().map(|old| old.draft()))?;
        Some(Arc::new(Version::detach(&self.key, revision, draft)))
    }

    /// Read the object in its stored form; `None` if it is deleted.
    pub fn with_draft<T>(&self, read: impl FnOnce(Option<&store::Draft>) -> T) -> T {
        read(self.draft.lock().as_ref())
    }

    /// Return the key: `namespace/name`, or `name` of a cluster-scoped object.
    pub fn key(&self) -> &Arc<str> {
        &self.key
    }

    /// Return the revision at which the object must be; 0 if it must not exist.
    pub fn precondition(&self) -> u64 {
        self.old.as_ref().map_or(0, |old| old.revision())
    }

    /// Return the version that the write replaces or deletes.
    pub fn old(&self) -> Option<&Arc<Version>> {
        self.old.as_ref()
    }

    /// Return the number of bytes of the object's JSON; 0 for a deletion.
    pub fn size(&self) -> usize {
        self.draft.lock().as_ref().map_or(0, |draft| draft.json.len())
    }

    /// Return the number of bytes that the object has in a store which other API servers use as well; 0 for a deletion.
    pub fn shared_size(&self) -> Result<usize> {
        // Others may take the object meanwhile.
        let draft = self.draft.lock().clone();
        draft.map_or(Ok(0), |draft| Ok(self.kind.write_shared(&draft)?.len()))
    }

    /// Report whether the object is deleted.
    pub fn deletes(&self) -> bool {
        self.deletes
    }

    /// Return the present object if the write would change nothing but the times of its managed fields: then it is not
    /// written.
    pub fn present_object(&self) -> Option<Stored> {
        let old = self.old.as_ref().filter(|_| self.unchanged)?;
        Some(Stored::new(&self.kind, Arc::clone(old)))
    }

    /// Return the kind of the object.
    pub fn kind(&self) -> &Arc<dyn ObjectKind> {
        &self.kind
    }

    /// Return the change for a log that applies it to the store, once.
    pub fn take(&self) -> Result<store::Change> {
        if self.deletes {
            return Ok(store::Change::Delete);
        }
        self.draft.lock().take().map(store::Change::Put).ok_or(Error::Committed)
    }

    /// Return the object as loaded by a feed: its key, its revision, and its draft; `None` if it is deleted. A change
    /// can be loaded into several shards.
    pub fn state<F: Frame>(&self, shard: &Shard<F>, revision: u64) -> Option<(String, u64, store::Draft)> {
        let draft = self.draft.lock().clone()?;
        Some((self.key.to_string(), revision, shard.adapt(&self.key, draft)))
    }

    /// Apply the change to a shard with a feed. Return the new version or the last state of a deleted object; `None` if
    /// the shard already has it.
    pub fn apply<F: Frame>(&self, shard: &Shard<F>, revision: u64) -> Option<Stored> {
        let change = match self.state(shard, revision) {
            Some((.., draft)) => store::Change::Put(draft),
            None => store::Change::Delete,
        };
        let made = shard.store().apply(revision, &self.key, change)?;
        Some(Stored::new(&self.kind, made))
    }

    /// Commit the change to a log. Return the new version, or the last state of a deleted object.
    pub fn commit<F: Frame>(&self, log: &Local, shard: &Shard<F>) -> Result<Stored> {
        let shard = shard.store();
        let take = || self.draft.lock().take().ok_or(Error::Committed);
        let version = match &self.old {
            None => log.create(shard, &self.key, take()?),
            Some(old) if self.deletes => log.delete(shard, &self.key, old.revision()),
            Some(old) => log.update(shard, &self.key, old.revision(), take()?),
        };
        Ok(Stored::new(&self.kind, version?))
    }
}

/// Report whether a draft differs from a version only in the times of managed fields (apiserver
/// `IgnoreManagedFieldsTimestampsTransformer`): the write set fields that were dropped or normalised.
fn only_times_differ(version: &Version, draft: &store::Draft) -> bool {
    const NAME: &[u8] = br#""time":""#;
    const LENGTH: usize = "2006-01-02T15:04:05Z".len();
    let mut owners = None;
    version.same_but(draft, |at| {
        // The first difference usually decides: real changes are elsewhere.
        let begins = |begin: usize| draft.json.get(..begin).is_some_and(|text| text.ends_with(NAME));
        (at.saturating_sub(LENGTH - 1)..=at).any(begins)
            && owners
                .get_or_insert_with(|| managed_fields(&draft.json))
                .as_ref()
                .is_some_and(|range| range.contains(&at))
    })
}
