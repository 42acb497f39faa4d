//! Python bytes, into which the engine writes its output, and work outside of the GIL.

use std::convert::Infallible;
use std::time::Duration;

use hydrofoil_engine::Frame;
use hydrofoil_pace::DETACH;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// A `bytes` object. If dropped without the GIL, it is kept until a thread next acquires it.
#[derive(Debug)]
pub(crate) struct Bytes(Py<PyBytes>);

impl Frame for Bytes {
    fn fill(length: usize, write: impl FnOnce(&mut [u8])) -> Self {
        Python::attach(|py| {
            let made = PyBytes::new_with(py, length, |out| {
                write(out);
                Ok(())
            });
            Self(made.expect("memory for an answer").unbind())
        })
    }

    fn make(bytes: &[u8]) -> Self {
        Python::attach(|py| Self(PyBytes::new(py, bytes).unbind()))
    }

    fn share(&self) -> Self {
        Python::attach(|py| Self(self.0.clone_ref(py)))
    }

    fn read<T>(&self, look: impl FnOnce(&[u8]) -> T) -> T {
        Python::attach(|py| look(self.0.as_bytes(py)))
    }

    /// Release the GIL during the work, which must acquire and release its own locks.
    fn apart<T: Send>(work: impl FnOnce() -> T + Send) -> T {
        Python::attach(|py| py.detach(work))
    }
}

impl<'py> IntoPyObject<'py> for Bytes {
    type Target = PyBytes;
    type Output = Bound<'py, PyBytes>;
    type Error = Infallible;

    fn into_pyobject(self, py: Python<'py>) -> Result<Self::Output, Infallible> {
        Ok(self.0.into_bound(py))
    }
}

/// Return a time that was given in seconds.
pub(crate) fn seconds(time: f64) -> Duration {
    Duration::try_from_secs_f64(time.max(0.0)).unwrap_or(Duration::MAX)
}

/// Do work on a number of bytes, without the GIL if they are many. It must acquire and release its own locks.
pub(crate) fn apart<T: Send>(bytes: usize, work: impl FnOnce() -> T + Send) -> T {
    if bytes < DETACH { work() } else { Bytes::apart(work) }
}
