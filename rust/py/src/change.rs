//! A conditional write: what a log is asked for, and what the feeds of other servers bring.

use std::sync::Arc;

use hydrofoil_store as store;
use parking_lot::Mutex;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::draft::Draft;
use crate::patch::owners;
use crate::shard::Shard;
use crate::stored::{Stored, key};
use crate::typed::Typed;

/// What is to become of the object of one key.
#[pyclass(frozen)]
pub(crate) struct Change {
    /// Where it is written.
    pub(crate) shard: Py<Shard>,
    pub(crate) typed: Arc<Typed>,
    pub(crate) key: Arc<str>,
    /// The version that the write was made from; `None`: none may be there.
    pub(crate) old: Option<Arc<store::Version>>,
    /// The object in its stored form; `None`: it goes.
    draft: Mutex<Option<store::Draft>>,
    pub(crate) deletes: bool,
    /// Whether the object stays what it is.
    unchanged: bool,
}

impl Change {
    fn new(shard: Py<Shard>, typed: &Arc<Typed>, key: Arc<str>, old: Option<Arc<store::Version>>) -> Self {
        Self { shard, typed: Arc::clone(typed), key, old, draft: Mutex::new(None), deletes: false, unchanged: false }
    }

    /// The object, for the one who commits it.
    pub(crate) fn take(&self) -> PyResult<store::Draft> {
        self.draft.lock().take().ok_or_else(|| PyRuntimeError::new_err("a change is committed once"))
    }

    /// The object, for each view that it is applied to; `None` when it goes.
    pub(crate) fn draft(&self) -> Option<store::Draft> {
        self.draft.lock().clone()
    }
}

#[pymethods]
impl Change {
    /// A new object.
    #[staticmethod]
    fn create(shard: Py<Shard>, draft: &Draft) -> Self {
        let key = {
            let value = draft.value.lock();
            let meta = hydrofoil_types::MetaView::of(&value);
            key(meta.namespace(), meta.name())
        };
        let change = Self::new(shard, &draft.typed, Arc::from(key), None);
        Self { draft: Mutex::new(Some(draft.stored())), ..change }
    }

    /// An object in the place of `old`. One that does not change, or only in the times at which its fields were written,
    /// is not to be written.
    #[staticmethod]
    fn update(shard: Py<Shard>, old: &Stored, draft: &Draft) -> Self {
        let new = draft.stored();
        let unchanged = old.version.same_content(&new) || only_times_differ(&old.version, &new);
        let version = &old.version;
        let change = Self::new(shard, &draft.typed, Arc::clone(version.key()), Some(Arc::clone(version)));
        Self { draft: Mutex::new(Some(new)), unchanged, ..change }
    }

    /// `old` goes.
    #[staticmethod]
    fn delete(shard: Py<Shard>, old: &Stored) -> Self {
        let version = &old.version;
        let change = Self::new(shard, &old.typed, Arc::clone(version.key()), Some(Arc::clone(version)));
        Self { deletes: true, ..change }
    }

    /// The resource whose object it is.
    #[getter]
    fn resource(&self) -> &str {
        &self.shard.get().name
    }

    /// The key: `namespace/name`, or `name` of a cluster-scoped object.
    #[getter]
    fn key(&self) -> &str {
        &self.key
    }

    /// The revision that the object must stand at; 0: there must be none.
    #[getter]
    fn expected(&self) -> u64 {
        self.old.as_ref().map_or(0, |old| old.revision())
    }

    /// Whether the object goes.
    #[getter]
    fn deletes(&self) -> bool {
        self.deletes
    }

    /// The object as it is, when the write would not change it.
    #[getter]
    fn unchanged(&self) -> Option<Stored> {
        let old = self.old.as_ref().filter(|_| self.unchanged)?;
        Some(Stored::new(&self.typed, Arc::clone(old)))
    }
}

/// Whether a draft has other times of managed fields than a version, and says the same otherwise (apiserver's
/// `IgnoreManagedFieldsTimestampsTransformer`): somebody wrote what was dropped or normalised.
fn only_times_differ(version: &store::Version, draft: &store::Draft) -> bool {
    const NAME: &[u8] = br#""time":""#;
    const LENGTH: usize = "2006-01-02T15:04:05Z".len();
    let mut managed = None;
    version.same_but(draft, |at| {
        // The first place decides most often: what changed stands elsewhere.
        let begins = |begin: usize| draft.json[..begin].ends_with(NAME);
        (at.saturating_sub(LENGTH - 1)..=at).any(begins)
            && managed.get_or_insert_with(|| owners(&draft.json)).as_ref().is_some_and(|range| range.contains(&at))
    })
}
