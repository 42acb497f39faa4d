//! Watchers.

use hydrofoil_engine::watch;
use pyo3::{prelude::*, types::PyTuple};

use crate::error::Fallible;
use crate::frame::Bytes;
use crate::handles::{Stored, Watcher};

/// A version before and the one after.
type Difference = (Option<Stored>, Option<Stored>);

/// Report whether any of several watchers has changes.
#[pyfunction]
pub(crate) fn watchers_wait(watchers: &Bound<'_, PyTuple>) -> PyResult<bool> {
    for watcher in watchers {
        if watcher.cast::<Watcher>()?.get().0.waits() {
            return Ok(true);
        }
    }
    Ok(false)
}

#[pymethods]
impl Watcher {
    fn drain(&self, max: usize) -> Fallible<(Option<Bytes>, u8)> {
        let (bytes, left) = self.0.drain(max)?;
        Ok((bytes, left as u8))
    }

    fn pending(&self, max: usize) -> Fallible<Vec<Stored>> {
        Ok(self.0.pending(max)?.into_iter().map(Stored).collect())
    }

    fn waits(&self) -> bool {
        self.0.waits()
    }

    fn changes(&self, max: usize) -> (Vec<Difference>, u8) {
        let (changes, left) = self.0.changes(max);
        let shown = |(before, now): watch::Difference| (before.map(Stored), now.map(Stored));
        (changes.into_iter().map(shown).collect(), left as u8)
    }

    fn position(&self) -> (u64, Option<u64>) {
        self.0.position()
    }

    fn bookmark(&self, initial: bool) -> Fallible<Option<Bytes>> {
        Ok(self.0.bookmark(initial)?)
    }
}
