//! The clock of one server, shared by Python and native code.

use std::sync::Arc;

use pyo3::prelude::*;

use hydrofoil_types as types;

/// Tells the time; any thread may ask.
#[pyclass(frozen, module = "hydrofoil._native")]
#[derive(Clone)]
pub struct Clock(pub Arc<types::Clock>);

#[pymethods]
impl Clock {
    #[new]
    fn new() -> Self {
        Self(Arc::default())
    }

    /// Nanoseconds since 1970.
    fn nanoseconds(&self) -> i64 {
        let now = self.0.now();
        now.seconds.saturating_mul(1_000_000_000).saturating_add(i64::from(now.nanos))
    }

    /// The present second as RFC 3339.
    fn text(&self) -> String {
        self.0.now().rfc3339()
    }

    /// The present microsecond as RFC 3339.
    fn text_micro(&self) -> String {
        self.0.now().rfc3339_micro()
    }
}
