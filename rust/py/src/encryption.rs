//! The encryption of objects at rest.

use std::sync::Arc;

use hydrofoil_encryption::{Family, Metrics, Settings, Transformers};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::frame::apart;
use crate::handles::{Clock, Encryption};

/// The family of a row, its labels, and its number.
type Numbers = Vec<(&'static str, Vec<String>, f64)>;
/// The family of a row, its labels, cumulative buckets with their bounds, and the sum.
type Durations = Vec<(&'static str, Vec<String>, Vec<(f64, u64)>, f64)>;

fn cumulative(found: &hydrofoil_encryption::Durations) -> Vec<(f64, u64)> {
    let mut total = 0_u64;
    let bounds = found.bounds().chain([f64::INFINITY]);
    let add = |(bound, count): (f64, &u64)| {
        total += count;
        (bound, total)
    };
    bounds.zip(&found.counts).map(add).collect()
}

#[pymethods]
impl Encryption {
    #[new]
    #[pyo3(signature = (settings, clock, beside=None))]
    fn new(settings: &str, clock: &Clock, beside: Option<&Self>) -> PyResult<Self> {
        let settings = Settings::parse(settings).map_err(PyValueError::new_err)?;
        let metrics = beside.map(|beside| Arc::clone(beside.0.metrics()));
        let metrics = metrics.unwrap_or_else(|| Arc::new(Metrics::new(Arc::clone(&clock.0))));
        let made = apart(usize::MAX, || Transformers::counting(&settings, metrics));
        made.map(|made| Self(Arc::new(made))).map_err(|e| PyValueError::new_err(e.to_string()))
    }

    fn adopt(&self, other: &Self) {
        self.0.adopt(&other.0);
    }

    fn health(&self) -> Vec<(String, Option<String>)> {
        self.0.health()
    }

    fn numbers(&self) -> Numbers {
        let row = |(family, labels, number): (Family, Vec<String>, f64)| (family.name(), labels, number);
        self.0.metrics().numbers().into_iter().map(row).collect()
    }

    fn durations(&self) -> Durations {
        let found = self.0.metrics().durations();
        let row = |(family, labels, found): (Family, Vec<String>, hydrofoil_encryption::Durations)| {
            (family.name(), labels, cumulative(&found), found.sum)
        };
        found.into_iter().map(row).collect()
    }
}
