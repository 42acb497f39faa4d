//! The objects of one resource, for reads and watches.

use std::sync::Arc;

use hydrofoil_store as store;
use hydrofoil_store::{Filter, Page, Reindexed, Version, WatchStart};
use parking_lot::Mutex;

use crate::error::Result;
use crate::frame::Frame;
use crate::kind::ObjectKind;
use crate::read::{Form, ListCursor};
use crate::stored::{Stored, key};
use crate::watch::{Batches, Watcher};

/// The state of one resource.
#[derive(Debug)]
pub struct Shard<F> {
    name: Arc<str>,
    store: Arc<store::Shard>,
    /// What watchers at one cursor share: see [`Watcher`].
    batches: Arc<Mutex<Batches<F>>>,
    /// The kind that reads the values of field selectors of objects from a feed; `None` until there is a choice.
    kind: Mutex<Option<Arc<dyn ObjectKind>>>,
}

impl<F: Frame> Shard<F> {
    /// Serve the objects of a shard of the store, for the resource `name`.
    pub fn new(name: &str, store: Arc<store::Shard>) -> Self {
        Self { name: Arc::from(name), store, batches: Arc::default(), kind: Mutex::new(None) }
    }

    /// Return the name of the resource.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Return the objects in the store.
    pub fn store(&self) -> &Arc<store::Shard> {
        &self.store
    }

    /// Return the present version of an object.
    pub fn get(&self, kind: &Arc<dyn ObjectKind>, namespace: &str, name: &str) -> Option<Stored> {
        Some(Stored::new(kind, self.store.get(&key(namespace, name))?))
    }

    /// Begin a list. `revision` 0 is the present state; `start` is the key of a continue token, or empty; `limit` 0
    /// means unlimited.
    pub fn list(
        &self,
        kind: &Arc<dyn ObjectKind>,
        filter: &Filter,
        form: Form,
        limit: usize,
        revision: u64,
        start: &str,
    ) -> Result<ListCursor<F>> {
        let snapshot = if revision == 0 { self.store.lasting_snapshot() } else { self.store.snapshot_at(revision)? };
        let page = Page::new(snapshot, filter.selector.clone(), start, limit);
        let selection = Arc::clone(&filter.identity);
        Ok(ListCursor::new(Arc::clone(kind), form, selection, Arc::clone(&self.store), page))
    }

    /// Begin a watch that its owner identifies as `token`; `framed` makes its output chunks of an HTTP/1.1 stream.
    pub fn watch(
        &self,
        kind: &Arc<dyn ObjectKind>,
        filter: &Arc<Filter>,
        form: Form,
        start: WatchStart,
        token: u64,
        framed: bool,
    ) -> Result<Watcher<F>> {
        let id = self.store.watch(Arc::clone(filter), start, token)?;
        let (store, batches) = (Arc::clone(&self.store), Arc::clone(&self.batches));
        Ok(Watcher::new(store, batches, Arc::clone(kind), form, id, framed))
    }

    /// Return an object written by another server as it is stored here: its values of field selectors may be those of
    /// another definition.
    pub fn adapt(&self, key: &str, mut draft: store::Draft) -> store::Draft {
        let kind = self.kind.lock().clone();
        if let Some(kind) = kind {
            kind.adapt(key, &mut draft);
        }
        draft
    }

    /// Read the values of field selectors of objects from feeds by a kind from now on.
    pub fn select_by(&self, kind: &Arc<dyn ObjectKind>) {
        *self.kind.lock() = Some(Arc::clone(kind));
    }

    /// Build the state in which every object has the values of a kind's field selectors.
    pub fn reindex(&self, kind: &dyn ObjectKind) -> Reindexed {
        self.store.reindex(|version: &Version| kind.fields(version))
    }

    /// Replace the present state by such a state, with later writes added. Return false if there were too many.
    pub fn adopt(&self, kind: &dyn ObjectKind, made: Reindexed) -> bool {
        self.store.adopt(made, |version| kind.fields(version))
    }
}
