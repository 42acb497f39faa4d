//! The part of a run that the thread that waits for it can see.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use crate::connection::Meter;
use crate::histogram::{Histogram, Quantiles};

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Connections are opened.
    Opening,
    /// All is ready for the measurement.
    Ready,
    /// The measurement.
    Running,
    /// The measurement has ended.
    Closing,
    /// The run has ended.
    Over,
}

/// A moment of a run.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// How far it is.
    pub phase: Phase,
    /// Agents that are ready.
    pub opened: usize,
    /// Operations so far.
    pub ops: u64,
    /// Seconds of the measurement so far.
    pub seconds: f64,
    /// Bytes received and sent since it began.
    pub received: u64,
    /// Bytes sent since it began.
    pub sent: u64,
    /// Median and 99th percentile of latencies or lags since the last look, in milliseconds.
    pub latency: Option<(f64, f64)>,
}

#[derive(Debug)]
struct Inside {
    phase: Phase,
    opened: usize,
    ops: u64,
    elapsed: u64,
    meter: Meter,
    before: Meter,
    recent: Histogram,
}

/// The state that two threads share.
#[derive(Debug)]
pub(crate) struct Shared {
    /// What the waiting thread sees, in numbers that belong together.
    inside: Mutex<Inside>,
    /// A phase has begun or ended: the waiting thread looks again.
    changed: Condvar,
    /// The measurement may begin: every connection is open.
    go: AtomicBool,
    /// The run is to end before its time.
    stop: AtomicBool,
}

impl Shared {
    pub(crate) fn new() -> Self {
        let inside = Inside {
            phase: Phase::Opening,
            opened: 0,
            ops: 0,
            elapsed: 0,
            meter: Meter::default(),
            before: Meter::default(),
            recent: Histogram::new(),
        };
        let (go, stop) = (AtomicBool::new(false), AtomicBool::new(false));
        Self { inside: Mutex::new(inside), changed: Condvar::new(), go, stop }
    }

    pub(crate) fn go(&self) {
        self.go.store(true, Ordering::Release);
    }

    pub(crate) fn may_go(&self) -> bool {
        self.go.load(Ordering::Acquire)
    }

    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Release);
    }

    pub(crate) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    pub(crate) fn enter(&self, phase: Phase) {
        let mut inside = self.inside.lock();
        if inside.phase < phase {
            inside.phase = phase;
            self.changed.notify_all();
        }
    }

    pub(crate) fn began(&self, received: u64, sent: u64) {
        self.inside.lock().before = Meter { received, sent };
        self.enter(Phase::Running);
    }

    /// Wait for a later phase than this; return the present one.
    pub(crate) fn wait(&self, phase: Phase, patience: Duration) -> Phase {
        let mut inside = self.inside.lock();
        if inside.phase <= phase {
            self.changed.wait_for(&mut inside, patience);
        }
        inside.phase
    }

    /// Show operations and time of the measurement, agents that are ready, bytes, and latencies since the last call.
    pub(crate) fn publish(&self, (ops, elapsed): (u64, u64), opened: usize, meter: Meter, recent: &mut Histogram) {
        let mut inside = self.inside.lock();
        if inside.phase < Phase::Closing {
            (inside.ops, inside.elapsed, inside.meter) = (ops, elapsed, meter);
        }
        inside.opened = opened;
        inside.recent.merge(recent);
        recent.clear();
    }

    /// The bytes of the measurement.
    pub(crate) fn meter(&self) -> Meter {
        let inside = self.inside.lock();
        Meter {
            received: inside.meter.received.saturating_sub(inside.before.received),
            sent: inside.meter.sent.saturating_sub(inside.before.sent),
        }
    }

    pub(crate) fn progress(&self) -> Progress {
        let meter = self.meter();
        let mut inside = self.inside.lock();
        let latency = inside.recent.quantiles().map(|Quantiles { p50, p99, .. }| (p50, p99));
        inside.recent.clear();
        Progress {
            phase: inside.phase,
            opened: inside.opened,
            ops: inside.ops,
            seconds: inside.elapsed as f64 / 1e9,
            received: meter.received,
            sent: meter.sent,
            latency,
        }
    }
}
