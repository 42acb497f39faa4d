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
        let now = self.0.now();
        now.seconds.saturating_mul(1_000_000_000).saturating_add(i64::from(now.nanos))
    }

    fn text(&self) -> String {
        self.0.now().rfc3339()
    }
}
