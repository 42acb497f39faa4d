//! What is kept of one resource, for those who read it.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use hydrofoil_store as store;
use parking_lot::Mutex;
use pyo3::prelude::*;

use crate::catalog::ResourceType;
use crate::error::store_error;
use crate::list::ListCursor;
use crate::render::Form;
use crate::selector::Selector;
use crate::stored::{Stored, key};
use crate::typed::Typed;
use crate::watch::{Batches, Watcher};

/// A state in which objects have other values of field selectors.
#[pyclass(frozen)]
pub(crate) struct Reindexed {
    made: Mutex<Option<store::Reindexed>>,
}

/// The objects of one resource.
#[pyclass(frozen)]
pub(crate) struct Shard {
    pub(crate) name: Arc<str>,
    pub(crate) inner: Arc<store::Shard>,
    pub(crate) batches: Arc<Mutex<Batches>>,
    /// By which type the values of field selectors are read of what a feed brings; `None` until there is a choice.
    pub(crate) typed: Mutex<Option<Arc<Typed>>>,
}

impl Shard {
    /// What another server wrote as it is to be kept here: its values of field selectors may be those of another
    /// definition.
    pub(crate) fn adapted(&self, key: &str, mut draft: store::Draft) -> store::Draft {
        let typed = self.typed.lock().clone();
        if let Some(typed) = typed
            && let Some(custom) = &typed.custom
            && custom.storage().fingerprint != draft.form
        {
            draft.fields = custom.fields(&typed.schema, &store::Version::detached(key, 0, draft.clone()));
        }
        draft
    }
}

#[pymethods]
impl Shard {
    /// How far it is: everything up to this revision has been applied.
    #[getter]
    fn revision(&self) -> u64 {
        self.inner.revision()
    }

    /// The present version of an object.
    fn get(&self, resource: &ResourceType, namespace: &str, name: &str) -> Option<Stored> {
        let version = self.inner.get(&key(namespace, name))?;
        Some(Stored::new(&resource.typed, version))
    }

    /// The revision at which the object of a version stands now; 0 when there is none.
    fn standing(&self, old: &Stored) -> u64 {
        self.inner.get(old.version.key()).map_or(0, |version| version.revision())
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
        *self.typed.lock() = Some(Arc::clone(&resource.typed));
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
