//! Conversions that a webhook did between two attempts of a step.

use pyo3::prelude::*;

use crate::handles::Conversions;

#[pymethods]
impl Conversions {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Add the result of a conversion, or why it failed.
    #[pyo3(signature = (object, api_version, json, why=""))]
    fn add(&self, object: &[u8], api_version: &str, json: Option<&[u8]>, why: &str) {
        self.0.add(object, api_version, json.ok_or(why));
    }
}
