//! The steps of a write: values that know their price.

use std::sync::Arc;
use std::time::Duration;

use hydrofoil_engine::kind::ObjectKind;
use hydrofoil_engine::stored::Stored as Old;
use hydrofoil_engine::write::{self, Apply, Prepare, Prepared, Read};
use hydrofoil_engine::{Error, Result};
use hydrofoil_types::Value;
use parking_lot::Mutex;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::causes::{CauseTuple, tuples};
use crate::error::Raised;
use crate::frame::{apart, seconds};
use crate::handles::{Draft, Stored};

/// One step of a write that knows its price, and the conversions that a webhook did between its attempts.
#[pyclass(frozen)]
pub(crate) struct Step {
    /// The bytes that it processes.
    size: usize,
    /// Taken by an attempt on the loop or on a thread, never by both: the registry awaits one before the next.
    work: Mutex<Work>,
    known: write::Conversions,
    /// The conversion without which it cannot be done: the JSON of an object, and the version.
    needs: Mutex<Option<(Vec<u8>, String)>>,
}

/// The work of a step.
pub(crate) enum Work {
    /// Set defaults and owners.
    Read(Read, Py<Draft>, Option<Py<Stored>>),
    /// Prepare and validate.
    Prepare(Prepare, Py<Draft>, Option<Py<Stored>>),
    /// Apply a configuration.
    Apply(Configuration),
}

/// The arguments of an apply.
pub(crate) struct Configuration {
    pub(crate) kind: Arc<dyn ObjectKind>,
    pub(crate) live: Option<Py<Stored>>,
    pub(crate) text: PyBackedBytes,
    pub(crate) manager: String,
    pub(crate) subresource: String,
    pub(crate) force: bool,
    pub(crate) now: String,
}

impl Configuration {
    fn run(&self, known: &write::Conversions) -> Result<(Value, Vec<String>)> {
        let apply = Apply {
            config: &self.text,
            manager: &self.manager,
            subresource: &self.subresource,
            force: self.force,
            now: &self.now,
            known: Some(known),
        };
        apply.to(&self.kind, old(self.live.as_ref()))
    }
}

/// The result of a step.
enum Done {
    Read(write::Outcome),
    Prepared(Prepared),
    Applied(Value, Vec<String>),
}

/// The result of the first step of a write.
#[pyclass(frozen, get_all)]
pub(crate) struct ReadResult {
    duplicates: Vec<String>,
    resource_version: String,
    revision: u64,
}

impl From<write::Outcome> for ReadResult {
    fn from(read: write::Outcome) -> Self {
        let revision = read.revision();
        let write::Outcome { duplicates, resource_version } = read;
        Self { duplicates, resource_version, revision }
    }
}

/// The result of the second step of a write.
#[pyclass(frozen, get_all)]
pub(crate) struct PrepareResult {
    causes: Vec<CauseTuple>,
    warnings: Vec<String>,
    deleting: bool,
}

impl From<Prepared> for PrepareResult {
    fn from(prepared: Prepared) -> Self {
        let causes = tuples(&prepared.causes);
        let Prepared { warnings, deleting, .. } = prepared;
        Self { causes, warnings, deleting }
    }
}

fn old(stored: Option<&Py<Stored>>) -> Option<&Old> {
    stored.map(|stored| &stored.get().0)
}

impl Work {
    /// Return the bytes that the step processes.
    fn size(&self) -> usize {
        match self {
            Self::Read(_, draft, stored) | Self::Prepare(_, draft, stored) => {
                draft.get().1 + old(stored.as_ref()).map_or(0, Old::size)
            }
            Self::Apply(apply) => apply.text.len() + old(apply.live.as_ref()).map_or(0, Old::size),
        }
    }

    /// Do the step; return `None` if its expressions take longer than `time`.
    fn run(&mut self, time: Option<Duration>, known: &write::Conversions) -> Result<Option<Done>> {
        Ok(match self {
            Self::Read(read, draft, stored) => {
                Some(Done::Read(read.run(&mut draft.get().0.lock(), old(stored.as_ref()), known)?))
            }
            Self::Prepare(prepare, draft, stored) => {
                prepare.run(&mut draft.get().0.lock(), old(stored.as_ref()), time)?.map(Done::Prepared)
            }
            Self::Apply(apply) => {
                let (value, strict) = apply.run(known)?;
                Some(Done::Applied(value, strict))
            }
        })
    }
}

impl Step {
    pub(crate) fn new(work: Work) -> Self {
        let size = work.size();
        Self { size, work: Mutex::new(work), known: write::Conversions::default(), needs: Mutex::default() }
    }

    /// Do the step, without the GIL if it processes more than `bytes`; a conversion that it lacks is then in `needs`.
    fn run(&self, py: Python<'_>, bytes: usize, time: Option<Duration>) -> PyResult<Option<Py<PyAny>>> {
        // The lock is released before the GIL is taken again.
        match apart(bytes, || self.work.lock().run(time, &self.known)) {
            Ok(done) => done.map(|done| self.result(py, done)).transpose(),
            Err(Error::Pending { object, api_version }) => {
                *self.needs.lock() = Some((object, api_version));
                Ok(None)
            }
            Err(error) => Err(Raised::from(error).into()),
        }
    }

    fn result(&self, py: Python<'_>, done: Done) -> PyResult<Py<PyAny>> {
        Ok(match done {
            Done::Read(read) => Py::new(py, ReadResult::from(read))?.into_any(),
            Done::Prepared(prepared) => Py::new(py, PrepareResult::from(prepared))?.into_any(),
            Done::Applied(value, strict) => {
                let Work::Apply(Configuration { kind, .. }) = &*self.work.lock() else { return Ok(py.None()) };
                let draft = Draft::of_apply(kind, value, self.size);
                (draft, strict).into_pyobject(py)?.into_any().unbind()
            }
        })
    }
}

#[pymethods]
impl Step {
    #[getter]
    fn size(&self) -> usize {
        self.size
    }

    /// Whether it evaluates expressions, whose price only a try shows.
    #[getter]
    fn has_rules(&self) -> bool {
        matches!(&*self.work.lock(), Work::Prepare(prepare, ..) if prepare.validates)
    }

    /// Do the step on the loop, which has so many seconds for expressions, or none for the step.
    fn here(&self, py: Python<'_>, time: Option<f64>) -> PyResult<Option<Py<PyAny>>> {
        match time {
            Some(time) => self.run(py, self.size, Some(seconds(time))),
            None => Ok(None),
        }
    }

    /// Do the step to its end, on a thread.
    fn there(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        self.run(py, usize::MAX, None)
    }

    #[getter]
    fn needs<'py>(&self, py: Python<'py>) -> Option<(Bound<'py, PyBytes>, String)> {
        self.needs.lock().as_ref().map(|(object, api_version)| (PyBytes::new(py, object), api_version.clone()))
    }

    #[pyo3(signature = (json, why=""))]
    fn answer(&self, json: Option<&[u8]>, why: &str) {
        if let Some((object, api_version)) = self.needs.lock().take() {
            self.known.add(&object, &api_version, json.ok_or(why));
        }
    }
}
