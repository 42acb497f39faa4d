//! The feed of a view from another API server.

use std::sync::Arc;

use hydrofoil_engine::kind::{Mirror, ObjectKind};
use hydrofoil_upstream::{Feed, FeedError};
use parking_lot::Mutex;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use crate::error::DataError;
use crate::frame::apart;
use crate::handles::{ResourceType, View};

/// The feed of one resource, and its kind as clients read it.
#[pyclass(frozen, module = "hydrofoil._native")]
pub(crate) struct UpstreamFeed(Mutex<Feed>, Arc<Mirror>);

fn failure(why: FeedError) -> PyErr {
    DataError::new_err(why.to_string())
}

/// The number of events, whether the initial ones are complete (false: in vain), and the code and text of an error.
type Read = (usize, Option<bool>, u16, String);

#[pymethods]
impl UpstreamFeed {
    #[new]
    fn new(view: &View, name: &str, resource: &ResourceType, loaded: bool) -> Self {
        let mirror = Arc::new(Mirror::new(&resource.0));
        let shard = Arc::clone(view.0.shard(name).store());
        Self(Mutex::new(Feed::new(shard, Arc::clone(&mirror), loaded)), mirror)
    }

    #[getter]
    fn resource(&self) -> ResourceType {
        let kind: Arc<dyn ObjectKind> = Arc::clone(&self.1) as Arc<dyn ObjectKind>;
        ResourceType(kind)
    }

    fn begin(&self, lists: bool) {
        self.0.lock().begin(lists);
    }

    fn read(&self, data: PyBackedBytes) -> PyResult<Read> {
        let made = apart(data.len(), || self.0.lock().read(&data)).map_err(failure)?;
        let (code, why) = made.failure.unwrap_or_default();
        let complete = (made.complete || made.rewound).then_some(made.complete);
        Ok((made.events, complete, code, why))
    }

    fn read_page(&self, body: PyBackedBytes) -> PyResult<(u64, String)> {
        apart(body.len(), || self.0.lock().read_page(&body)).map_err(failure)
    }

    fn complete(&self, revision: u64) -> bool {
        apart(usize::MAX, || self.0.lock().complete(revision))
    }
}
