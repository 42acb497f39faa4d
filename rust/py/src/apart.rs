//! Work on large inputs, which leaves Python to others.

use pyo3::Python;

/// From how many bytes of input on work leaves Python's lock to other threads: below, taking it back may cost more.
const LARGE: usize = 32 << 10;

/// Does work on so many bytes, without Python's lock where they are many. What it locks it has to lock itself, and let go
/// before it ends.
pub(crate) fn apart<T: Send>(py: Python<'_>, bytes: usize, work: impl FnOnce() -> T + Send) -> T {
    if bytes < LARGE { work() } else { py.detach(work) }
}
