//! Expressions on claims, users and requests.

use std::collections::BTreeSet;

use pyo3::prelude::*;

use crate::error::Fallible;
use crate::frame::{apart, seconds};
use crate::handles::Expression;

#[pymethods]
impl Expression {
    #[new]
    fn new(text: &str, variable: &str) -> Fallible<Self> {
        Ok(Self(hydrofoil_engine::Expression::compile(text, variable)?))
    }

    #[getter]
    fn result(&self) -> &str {
        self.0.result()
    }

    #[getter]
    fn fields(&self) -> BTreeSet<String> {
        self.0.fields().map(str::to_owned).collect()
    }

    #[pyo3(signature = (on, patience=None))]
    fn evaluate(&self, on: &[u8], patience: Option<f64>) -> Fallible<Option<Vec<u8>>> {
        // A caller without patience has left the loop already, and leaves it to others.
        let size = if patience.is_none() { usize::MAX } else { on.len() };
        let patience = patience.map(seconds);
        Ok(apart(size, || self.0.evaluate(on, patience))?)
    }
}
