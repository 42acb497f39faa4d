//! Counts for metrics.

use hydrofoil_custom as custom;
use parking_lot::Mutex;
use pyo3::prelude::*;

use crate::frame::apart;

/// Numbers of values by bucket, and their sum.
#[pyclass(frozen, subclass, module = "hydrofoil._native")]
pub(crate) struct Histogram(Mutex<hydrofoil_metrics::Histogram>);

impl From<hydrofoil_metrics::Histogram> for Histogram {
    fn from(found: hydrofoil_metrics::Histogram) -> Self {
        Self(Mutex::new(found))
    }
}

/// Return the durations of the compilations and of the evaluations of the rules of definitions.
#[pyfunction]
pub(crate) fn rule_durations() -> (Histogram, Histogram) {
    (custom::COMPILATIONS.snapshot().into(), custom::EVALUATIONS.snapshot().into())
}

/// Return the metrics of several processes as those of one server.
#[pyfunction]
pub(crate) fn merge_metrics(running: Vec<String>, ended: Vec<String>, summed: Vec<String>) -> String {
    apart(usize::MAX, || hydrofoil_metrics::merge(&parts(&running), &parts(&ended), &parts(&summed)))
}

fn parts(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}

impl Histogram {
    /// Count a value.
    pub(crate) fn count(&self, value: f64) {
        self.0.lock().observe(value, 1);
    }
}

#[pymethods]
impl Histogram {
    #[new]
    fn new(buckets: Vec<f64>) -> Self {
        Self(Mutex::new(hydrofoil_metrics::Histogram::new(buckets)))
    }

    #[getter]
    fn buckets(&self) -> Vec<f64> {
        self.0.lock().bounds().to_vec()
    }

    #[getter]
    fn counts(&self) -> Vec<u64> {
        self.0.lock().counts().to_vec()
    }

    #[getter]
    fn sum(&self) -> f64 {
        self.0.lock().sum()
    }

    #[pyo3(signature = (value, times=1))]
    fn observe(&self, value: f64, times: u64) {
        self.0.lock().observe(value, times);
    }

    fn add(&self, other: &Self) {
        // The locks of two are never held together.
        let other = other.0.lock().clone();
        self.0.lock().add(&other);
    }
}
