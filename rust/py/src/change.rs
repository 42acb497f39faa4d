//! A conditional write: a request to a log, or an event of the feed of another server.

use std::sync::Arc;

use hydrofoil_engine::write;
use pyo3::prelude::*;

use crate::error::Fallible;
use crate::frame::apart;
use crate::handles::{Change, Draft, Shard, Stored};

#[pymethods]
impl Change {
    #[staticmethod]
    fn create(shard: &Shard, draft: &Draft) -> Self {
        Self(write::Change::create(&mut draft.0.lock()), Arc::clone(&shard.0))
    }

    #[staticmethod]
    fn update(shard: &Shard, old: &Stored, draft: &Draft) -> Self {
        Self(write::Change::update(&old.0, &mut draft.0.lock()), Arc::clone(&shard.0))
    }

    #[staticmethod]
    fn delete(shard: &Shard, old: &Stored) -> Self {
        Self(write::Change::delete(&old.0), Arc::clone(&shard.0))
    }

    #[getter]
    fn resource(&self) -> &str {
        self.1.name()
    }

    #[getter]
    fn key(&self) -> &str {
        self.0.key()
    }

    #[getter]
    fn expected(&self) -> u64 {
        self.0.precondition()
    }

    #[getter]
    fn size(&self) -> usize {
        self.0.size()
    }

    fn shared_size(&self) -> Fallible<usize> {
        Ok(apart(usize::MAX, || self.0.shared_size())?)
    }

    #[getter]
    fn deletes(&self) -> bool {
        self.0.deletes()
    }

    #[getter]
    fn unchanged(&self) -> Option<Stored> {
        self.0.present_object().map(Stored)
    }
}
