//! The clock of one server, shared by Python and native code.

use std::sync::Arc;

use pyo3::prelude::*;

use crate::handles::Clock;

#[pymethods]
impl Clock {
    #[new]
    fn new() -> Self {
        Self(Arc::default())
    }

    fn nanoseconds(&self) -> i64 {
        self.0.nanoseconds()
    }

    fn elapsed(&self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }

    #[getter]
    fn frozen(&self) -> bool {
        self.0.is_still()
    }

    #[pyo3(signature = (at=None))]
    fn freeze(&self, at: Option<i64>) {
        self.0.freeze(at);
    }

    fn advance(&self, nanoseconds: u64) {
        self.0.advance(nanoseconds);
    }

    fn run(&self) {
        self.0.run();
    }

    fn reset(&self) {
        self.0.reset();
    }

    fn text(&self) -> String {
        self.0.now().rfc3339()
    }
}
