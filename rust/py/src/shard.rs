//! The objects of one resource, for readers.

use hydrofoil_engine::read::Form;
use hydrofoil_store as store;
use parking_lot::Mutex;
use pyo3::prelude::*;

use crate::error::Fallible;
use crate::frame::apart;
use crate::handles::{ListCursor, Reindexed, ResourceType, Selector, Shard, Stored, Watcher};

#[pymethods]
impl Shard {
    #[getter]
    fn revision(&self) -> u64 {
        self.0.store().revision()
    }

    fn get(&self, resource: &ResourceType, namespace: &str, name: &str) -> Option<Stored> {
        self.0.get(&resource.0, namespace, name).map(Stored)
    }

    fn standing(&self, old: &Stored) -> u64 {
        self.0.store().get(old.0.version().key()).map_or(0, |version| version.revision())
    }

    #[pyo3(signature = (resource, selector, form, limit=0, revision=0, start=""))]
    fn list(
        &self,
        resource: &ResourceType,
        selector: &Selector,
        form: &str,
        limit: usize,
        revision: u64,
        start: &str,
    ) -> Fallible<ListCursor> {
        let form = Form::parse(form)?;
        Ok(ListCursor(self.0.list(&resource.0, &selector.0, form, limit, revision, start)?))
    }

    fn watch(
        &self,
        resource: &ResourceType,
        selector: &Selector,
        form: &str,
        revision: Option<u64>,
        token: u64,
        framed: bool,
    ) -> Fallible<Watcher> {
        let start = revision.map_or(store::WatchStart::State, store::WatchStart::After);
        let form = Form::parse(form)?;
        Ok(Watcher(self.0.watch(&resource.0, &selector.0, form, start, token, framed)?))
    }

    fn reindexed(&self, resource: &ResourceType) -> Reindexed {
        self.0.select_by(&resource.0);
        Reindexed(Mutex::new(Some(apart(usize::MAX, || self.0.reindex(&*resource.0)))))
    }

    fn adopt(&self, resource: &ResourceType, made: &Reindexed) -> bool {
        made.0.lock().take().is_none_or(|made| self.0.adopt(&*resource.0, made))
    }

    fn size(&self) -> (usize, usize, usize) {
        let (objects, bytes) = self.0.store().size();
        (objects, bytes, self.0.store().watchers())
    }
}
