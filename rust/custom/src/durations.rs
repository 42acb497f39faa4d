//! The durations of rules (apiserver `pkg/cel/metrics`): those of the whole process, as upstream.

use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Instant;

use hydrofoil_metrics::Histogram;

/// The upper bounds in seconds (`DefBuckets` of Prometheus).
const BOUNDS: [f64; 11] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

/// The durations of one kind of work, in seconds.
#[derive(Debug)]
pub struct Durations(LazyLock<Mutex<Histogram>>);

/// The compilations of the rules of a schema.
pub static COMPILATIONS: Durations = Durations::new();
/// The evaluations of all rules of a schema on an object.
pub static EVALUATIONS: Durations = Durations::new();

impl Durations {
    const fn new() -> Self {
        Self(LazyLock::new(|| Mutex::new(Histogram::new(BOUNDS.to_vec()))))
    }

    /// Do some work, and count its duration.
    #[allow(clippy::disallowed_methods, reason = "it measures work, which the clock of a server may not stop")]
    pub(super) fn of<T>(&self, work: impl FnOnce() -> T) -> T {
        let begun = Instant::now();
        let made = work();
        let seconds = begun.elapsed().as_secs_f64();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).observe(seconds, 1);
        made
    }

    /// Return the present state.
    pub fn snapshot(&self) -> Histogram {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
