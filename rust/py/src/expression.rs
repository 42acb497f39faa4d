//! Expressions on claims, users and requests.

use std::collections::BTreeSet;

use pyo3::prelude::*;

use crate::error::Fallible;
use crate::frame::apart;
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

    fn evaluate(&self, on: &[u8]) -> Fallible<Vec<u8>> {
        Ok(apart(on.len(), || self.0.evaluate(on))?)
    }
}
