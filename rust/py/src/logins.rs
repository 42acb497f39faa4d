//! Logins of tokens that were accepted a moment ago.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use hydrofoil_tls as tls;
use hydrofoil_types as types;
use parking_lot::Mutex;
use pyo3::{prelude::*, types::PyString};

use crate::handles::Clock;

/// A login and its end, in nanoseconds since 1970.
type Kept = (i64, Py<PyAny>);

/// Logins by the digest of their token, each until its end.
#[pyclass(frozen, module = "hydrofoil._native")]
pub(crate) struct Logins {
    clock: Arc<types::Clock>,
    life: i64,
    most: usize,
    /// Taken with the GIL held and never across a call of Python: a login that ends is dropped after the lock, since
    /// its end may run code that asks for a login.
    kept: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    logins: HashMap<Box<[u8]>, Kept, rustc_hash::FxBuildHasher>,
    /// Keys in the order of their ends, as all live equally long, with those ends.
    order: VecDeque<(Box<[u8]>, i64)>,
    hits: u64,
}

impl Logins {
    fn find(&self, py: Python<'_>, key: &[u8]) -> Option<Py<PyAny>> {
        let mut kept = self.kept.lock();
        let (ends, login) = kept.logins.get(key)?;
        // A clock that was set back is before the begin of later logins: these were for another time.
        if (ends.saturating_sub(self.life)..*ends).contains(&self.clock.nanoseconds()) {
            let login = login.clone_ref(py);
            kept.hits = kept.hits.saturating_add(1);
            return Some(login);
        }
        let ended = kept.logins.remove(key);
        drop(kept);
        drop(ended);
        None
    }
}

#[pymethods]
impl Logins {
    #[new]
    fn new(clock: &Clock, seconds: u32, most: usize) -> Self {
        let life = i64::from(seconds).saturating_mul(1_000_000_000);
        Self { clock: Arc::clone(&clock.0), life, most, kept: Mutex::default() }
    }

    /// Return the login of the token in an Authorization header of the usual form.
    fn presented(&self, header: &Bound<'_, PyString>) -> Option<Py<PyAny>> {
        // Bytes that are no UTF-8 are part of no token.
        let token = tls::token::usual(header.to_str().ok()?)?;
        self.find(header.py(), &tls::token::digest(token.as_bytes()))
    }

    /// Return from when until when such a login is kept, without counting a use.
    fn presented_life(&self, header: &Bound<'_, PyString>) -> Option<(i64, i64)> {
        let token = tls::token::usual(header.to_str().ok()?)?;
        let (ends, _) = *self.kept.lock().logins.get(tls::token::digest(token.as_bytes()).as_slice())?;
        Some((ends.saturating_sub(self.life), ends))
    }

    /// Count logins that were found by other means.
    fn count(&self, times: u64) {
        let mut kept = self.kept.lock();
        kept.hits = kept.hits.saturating_add(times);
    }

    fn get(&self, py: Python<'_>, key: &[u8]) -> Option<Py<PyAny>> {
        self.find(py, key)
    }

    fn put(&self, key: &[u8], login: Py<PyAny>) {
        let ends = self.clock.nanoseconds().saturating_add(self.life);
        let mut gone = Vec::new();
        let mut kept = self.kept.lock();
        gone.extend(kept.logins.insert(key.into(), (ends, login)));
        kept.order.push_back((key.into(), ends));
        while kept.logins.len() > self.most || kept.order.len() > self.most.saturating_mul(2) {
            let Some((first, ended)) = kept.order.pop_front() else { break };
            // One that was put again has another end, and its place behind.
            if kept.logins.get(&first).is_some_and(|(ends, _)| *ends == ended) {
                gone.extend(kept.logins.remove(&first));
            }
        }
        // Logins that leave are dropped without the lock.
        drop(kept);
    }

    fn clear(&self) {
        let mut kept = self.kept.lock();
        let gone = (std::mem::take(&mut kept.logins), std::mem::take(&mut kept.order));
        drop(kept);
        drop(gone);
    }

    /// The number of logins that were found.
    #[getter]
    fn hits(&self) -> u64 {
        self.kept.lock().hits
    }

    fn __len__(&self) -> usize {
        self.kept.lock().logins.len()
    }
}
