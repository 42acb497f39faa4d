//! The store and its shards.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use hydrofoil_store as store;
use parking_lot::Mutex;
use pyo3::prelude::*;

use crate::catalog::ResourceType;
use crate::draft::Draft;
use crate::error::store_error;
use crate::list::ListCursor;
use crate::patch::owners;
use crate::render::Form;
use crate::selector::Selector;
use crate::stored::{Stored, key};
use crate::watch::{Batches, Watcher};

/// All objects of a server.
#[pyclass(frozen)]
pub(crate) struct Store {
    inner: Arc<store::Store>,
}

#[pymethods]
impl Store {
    /// An empty store: the revision before the first write, the bounds of each history, and of the bytes of encodings
    /// that are kept (`None`: by the size of the objects).
    #[new]
    fn new(start: u64, window: f64, events: usize, bytes: usize, cache: Option<usize>) -> Self {
        let window = Duration::try_from_secs_f64(window.max(0.0)).unwrap_or(Duration::MAX);
        let limits = store::Limits { window, events, bytes };
        Self { inner: Arc::new(store::Store::new(start, limits, cache)) }
    }

    /// The shard of that name, made when first asked for.
    fn shard(&self, name: &str) -> Shard {
        Shard { inner: self.inner.shard(name), batches: Arc::new(Mutex::new(Batches::default())) }
    }

    /// Whether watchers wait to be drained.
    fn has_woken(&self) -> bool {
        self.inner.has_woken()
    }

    /// The tokens of the watchers that wait to be drained.
    fn take_woken(&self) -> Vec<u64> {
        self.inner.take_woken()
    }

    /// The latest revision.
    #[getter]
    fn revision(&self) -> u64 {
        self.inner.revision()
    }
}

/// A state in which objects have other values of field selectors.
#[pyclass(frozen)]
pub(crate) struct Reindexed {
    made: Mutex<Option<store::Reindexed>>,
}

/// The objects of one resource.
#[pyclass(frozen)]
pub(crate) struct Shard {
    pub(crate) inner: Arc<store::Shard>,
    batches: Arc<Mutex<Batches>>,
}

#[pymethods]
impl Shard {
    /// Stores a new object.
    fn create(&self, draft: &Draft) -> PyResult<Stored> {
        let key = {
            let value = draft.value.lock();
            let meta = hydrofoil_types::MetaView::of(&value);
            key(meta.namespace(), meta.name())
        };
        let version = self.inner.create(&key, draft.stored()).map_err(store_error)?;
        Ok(Stored::new(&draft.typed, version))
    }

    /// Replaces `old`, which must be the present version. An object that does not change, or only in the times at which
    /// its fields were written, is not written.
    fn update(&self, old: &Stored, draft: &Draft) -> PyResult<Stored> {
        let new = draft.stored();
        if old.version.same_content(&new) || only_times_differ(&old.version, &new) {
            return Ok(Stored::new(&draft.typed, Arc::clone(&old.version)));
        }
        let version = self.inner.update(old.version.key(), old.version.revision(), new).map_err(store_error)?;
        Ok(Stored::new(&draft.typed, version))
    }

    /// Takes out `old`, which must be the present version.
    fn delete(&self, old: &Stored) -> PyResult<Stored> {
        let version = self.inner.delete(old.version.key(), old.version.revision()).map_err(store_error)?;
        Ok(Stored::new(&old.typed, version))
    }

    /// The present version of an object.
    fn get(&self, resource: &ResourceType, namespace: &str, name: &str) -> Option<Stored> {
        let version = self.inner.get(&key(namespace, name))?;
        Some(Stored::new(&resource.typed, version))
    }

    /// A list. `revision` 0 is the present state; `start` is the key of a continue token.
    #[pyo3(signature = (resource, selector, form, limit=0, revision=0, start=""))]
    fn list(
        &self,
        resource: &ResourceType,
        selector: &Selector,
        form: &str,
        limit: usize,
        revision: u64,
        start: &str,
    ) -> PyResult<ListCursor> {
        let snapshot = if revision == 0 {
            self.inner.lasting_snapshot()
        } else {
            self.inner.snapshot_at(revision).map_err(store_error)?
        };
        let page = store::Page::new(snapshot, selector.inner.selector.clone(), start, limit);
        let shard = Arc::clone(&self.inner);
        let selection = Arc::clone(&selector.inner.identity);
        Ok(ListCursor::new(Arc::clone(&resource.typed), Form::parse(form)?, selection, shard, page))
    }

    /// A watch from after a revision, or with the present state first when `revision` is `None`.
    #[pyo3(signature = (resource, selector, form, revision, token, framed))]
    fn watch(
        &self,
        resource: &ResourceType,
        selector: &Selector,
        form: &str,
        revision: Option<u64>,
        token: u64,
        framed: bool,
    ) -> PyResult<Watcher> {
        let start = revision.map_or(store::WatchStart::State, store::WatchStart::After);
        let form = Form::parse(form)?;
        let id = self.inner.watch(Arc::clone(&selector.inner), start, token).map_err(store_error)?;
        Ok(Watcher {
            shard: Arc::clone(&self.inner),
            batches: Arc::clone(&self.batches),
            typed: Arc::clone(&resource.typed),
            form,
            id,
            framed,
            headless: AtomicBool::new(false),
        })
    }

    /// Makes the state in which every object has the field values that the type's definition now selects by.
    fn reindexed(&self, py: Python<'_>, resource: &ResourceType) -> Reindexed {
        let fields = |version: &store::Version| match &resource.typed.custom {
            Some(custom) => custom.fields(&resource.typed.schema, version),
            None => version.fields().into(),
        };
        Reindexed { made: Mutex::new(Some(py.detach(|| self.inner.reindexed(fields)))) }
    }

    /// Puts such a state in the place of the present one; what was written meanwhile is added. False when too much was.
    fn adopt(&self, resource: &ResourceType, made: &Reindexed) -> bool {
        let Some((custom, made)) = resource.typed.custom.as_ref().zip(made.made.lock().take()) else { return true };
        self.inner.adopt(made, |version| custom.fields(&resource.typed.schema, version))
    }

    /// How many objects, their bytes, and how many watchers there are.
    fn size(&self) -> (usize, usize, usize) {
        let (objects, bytes) = self.inner.size();
        (objects, bytes, self.inner.watchers())
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
