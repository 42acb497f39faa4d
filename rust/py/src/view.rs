//! The resources of a server, and the local log of a view.

use std::sync::Arc;

use hydrofoil_engine as engine;
use hydrofoil_engine::Frame;
use hydrofoil_store as store;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::Fallible;
use crate::frame::{Bytes, apart, seconds};
use crate::handles::{Change, Checkpoint, Clock, Local, Shard, Stored, View};

/// Return the objects of a feed with their revisions.
fn each(states: &[(u64, Py<Change>)]) -> impl Iterator<Item = (u64, &engine::write::Change)> {
    states.iter().map(|(revision, change)| (*revision, &change.get().0))
}

#[pymethods]
impl View {
    #[new]
    fn new(window: f64, events: usize, bytes: usize, cache: Option<usize>, clock: &Clock) -> PyResult<Self> {
        let window = seconds(window);
        Ok(Self(engine::View::new(store::Limits { window, events, bytes }, cache, Arc::clone(&clock.0))?))
    }

    fn shard(&self, name: &str) -> Shard {
        Shard(self.0.shard(name))
    }

    fn load(&self, name: &str, states: Vec<(u64, Py<Change>)>, revision: u64) {
        self.0.load(name, each(&states), revision);
    }

    fn apply(&self, change: &Change, revision: u64) -> Option<Stored> {
        self.0.apply(change.1.name(), &change.0, revision).map(Stored)
    }

    fn progress(&self, name: &str, revision: u64) {
        self.0.progress(name, revision);
    }

    fn replace(&self, name: &str, states: Vec<(u64, Py<Change>)>, revision: u64) {
        self.0.replace(name, each(&states), revision);
    }

    fn forget(&self, name: &str) {
        self.0.forget(name);
    }

    fn checkpoint(&self) -> Checkpoint {
        Checkpoint(self.0.store().checkpoint())
    }

    fn begin_with(&self, state: &Checkpoint) {
        apart(usize::MAX, || self.0.store().begin_with(&state.0));
    }

    fn compact(&self) {
        self.0.store().compact();
    }

    fn fileno(&self) -> i32 {
        self.0.signal().fileno()
    }

    fn close(&self) {
        self.0.signal().close();
    }

    fn clear(&self) -> PyResult<()> {
        Ok(self.0.signal().clear()?)
    }

    fn has_woken(&self) -> bool {
        self.0.store().has_woken()
    }

    fn take_woken(&self) -> Vec<u64> {
        self.0.store().take_woken()
    }
}

#[pymethods]
impl Local {
    #[new]
    fn new(view: &View, start: u64) -> Self {
        Self(store::Local::open(view.0.store(), start))
    }

    fn commit(&self, change: &Change) -> Fallible<Stored> {
        Ok(Stored(change.0.commit(&self.0, &change.1)?))
    }

    fn restore(&self, view: &View, state: &Checkpoint) -> usize {
        view.0.restore(&self.0, &state.0)
    }

    #[getter]
    fn revision(&self) -> u64 {
        self.0.revision()
    }
}

/// The name of a resource, and the JSON of an object in one state and in the other.
type Difference = (String, Option<Bytes>, Option<Bytes>);

#[pymethods]
impl Checkpoint {
    #[staticmethod]
    fn load(data: &[u8]) -> PyResult<Self> {
        let state = apart(data.len(), || store::Checkpoint::load(data));
        state.map(Self).map_err(|e| PyValueError::new_err(e.to_string()))
    }

    fn save(&self) -> Bytes {
        Bytes::make(&apart(usize::MAX, || self.0.save()))
    }

    fn differences(&self, other: &Self) -> Vec<Difference> {
        let json = |version: Option<Arc<store::Version>>| version.map(|v| Bytes::make(v.json()));
        let found = self.0.differences(&other.0).into_iter();
        found.map(|(name, (here, there))| (name.to_owned(), json(here), json(there))).collect()
    }

    #[getter]
    fn revision(&self) -> u64 {
        self.0.revision()
    }

    fn __len__(&self) -> usize {
        self.0.objects()
    }
}
