//! The requests of flow schemas: their work, their flows and their counts.

use std::{collections::BTreeMap, sync::Arc};

use hydrofoil_fairness as fairness;
use hydrofoil_fairness::Reason;
use pyo3::{
    prelude::*,
    types::{PyBytes, PyString},
};

use crate::counting::Histogram;

/// The estimated work of a request.
#[pyclass(frozen, eq, module = "hydrofoil._native")]
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Work(fairness::Work);

impl Work {
    pub(crate) fn inner(self) -> fairness::Work {
        self.0
    }
}

impl From<fairness::Work> for Work {
    fn from(work: fairness::Work) -> Self {
        Self(work)
    }
}

#[pymethods]
impl Work {
    #[new]
    #[pyo3(signature = (first=1, last=0, extra=0.0))]
    fn new(first: u64, last: u64, extra: f64) -> Self {
        Self(fairness::Work { first, last, extra })
    }

    #[getter]
    fn first(&self) -> u64 {
        self.0.first
    }

    #[getter]
    fn last(&self) -> u64 {
        self.0.last
    }

    #[getter]
    fn extra(&self) -> f64 {
        self.0.extra
    }
}

/// The counts of one flow schema in one level.
#[pyclass(frozen, module = "hydrofoil._native")]
pub(crate) struct FlowCounts(Arc<fairness::Counts>);

#[pymethods]
impl FlowCounts {
    #[new]
    fn new() -> Self {
        Self(Arc::default())
    }

    #[getter]
    fn executing(&self) -> u64 {
        self.0.with(|counts| counts.executing)
    }

    #[getter]
    fn seats(&self) -> u64 {
        self.0.with(|counts| counts.seats)
    }

    #[getter]
    fn waiting(&self) -> u64 {
        self.0.with(|counts| counts.waiting)
    }

    #[getter]
    fn waiting_seats(&self) -> u64 {
        self.0.with(|counts| counts.waiting_seats)
    }

    #[getter]
    fn dispatched(&self) -> u64 {
        self.0.with(|counts| counts.dispatched)
    }

    #[getter]
    fn unfit(&self) -> u64 {
        self.0.with(|counts| counts.unfit)
    }

    #[getter]
    fn rejected(&self) -> BTreeMap<&'static str, u64> {
        let found = self.0.with(|counts| counts.rejected);
        Reason::ALL.iter().map(|reason| reason.word()).zip(found).filter(|(_, count)| *count > 0).collect()
    }

    #[getter]
    fn waited(&self) -> (Histogram, Histogram) {
        self.0.with(|counts| (counts.wait_histogram().into(), counts.refused.clone().into()))
    }

    #[getter]
    fn executed(&self) -> (Histogram, Histogram) {
        self.0.with(|counts| (counts.regular.clone().into(), counts.watches.clone().into()))
    }

    #[getter]
    fn work(&self) -> Histogram {
        self.0.with(|counts| counts.work()).into()
    }

    #[getter]
    fn lengths(&self) -> Histogram {
        self.0.with(|counts| counts.lengths()).into()
    }
}

/// The requests of a flow schema with the same distinguisher.
#[pyclass(frozen, module = "hydrofoil._native")]
pub(crate) struct Flow {
    inner: Arc<fairness::Flow>,
    #[pyo3(get)]
    counts: Py<FlowCounts>,
    #[pyo3(get)]
    schema: Py<PyString>,
    #[pyo3(get)]
    distinguisher: Py<PyString>,
    #[pyo3(get)]
    lines: Py<PyBytes>,
}

impl Flow {
    pub(crate) fn inner(&self) -> Arc<fairness::Flow> {
        Arc::clone(&self.inner)
    }
}

#[pymethods]
impl Flow {
    #[new]
    fn new(
        counts: Py<FlowCounts>,
        schema: Py<PyString>,
        distinguisher: Py<PyString>,
        hand: Vec<usize>,
        lines: Py<PyBytes>,
    ) -> Self {
        let inner = fairness::Flow { counts: Arc::clone(&counts.get().0), hand: hand.into() };
        Self { inner: Arc::new(inner), counts, schema, distinguisher, lines }
    }
}
