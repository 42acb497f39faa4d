//! Requests whose head is like one before.

use hydrofoil_repeat::{Heads, split};
use parking_lot::Mutex;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

/// Method, target, the kept value, the length as it was sent, and the body.
type Found<'py> =
    (Bound<'py, PyString>, Bound<'py, PyString>, Py<PyAny>, Option<Bound<'py, PyString>>, Bound<'py, PyBytes>);

/// What is known of blocks of header lines.
#[pyclass(frozen, module = "hydrofoil._native")]
pub(crate) struct KnownHeads {
    /// Taken with the GIL held and never across a call of Python: values are dropped after the lock, since the end of
    /// one may run code that asks for another.
    heads: Mutex<Heads<Py<PyAny>>>,
}

#[pymethods]
impl KnownHeads {
    #[new]
    fn new() -> Self {
        Self { heads: Mutex::default() }
    }

    fn find<'py>(&self, py: Python<'py>, data: &[u8]) -> Option<Found<'py>> {
        let request = split(data)?;
        let value = self.heads.lock().get(&request)?.clone_ref(py);
        Some((
            PyString::intern(py, request.method),
            PyString::new(py, request.target),
            value,
            request.length.map(|text| PyString::new(py, text)),
            PyBytes::new(py, request.body),
        ))
    }

    fn keep(&self, data: &[u8], value: Py<PyAny>) -> bool {
        let Some(request) = split(data) else { return false };
        let dropped = self.heads.lock().insert(&request, value);
        drop(dropped);
        true
    }
}
