//! A run: its thread, and its outcome.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::Mutex;
use serde::Serialize;

use crate::agents;
use crate::body::churn_name;
use crate::drive::drive;
use crate::figures::Figures;
use crate::histogram::{Histogram, Quantiles};
use crate::plan::{Owned, Part, Plan};
use crate::shared::{Phase, Progress, Shared};
use crate::target::Target;
use crate::world::World;

/// Status and body of the answer to a single call.
pub type Answer = Option<(u16, Vec<u8>)>;

/// The figures of one part.
#[derive(Clone, Debug, Serialize)]
pub struct PartOutcome {
    /// Whether its operations are those that the case counts.
    pub shown: bool,
    /// Operations.
    pub ops: u64,
    /// Objects read.
    pub objects: u64,
    /// The size of the last body.
    pub body: u64,
    /// Seconds from the beginning to the last operation.
    pub seconds: f64,
    /// Starts of informers whose events were not ordered by name.
    pub unordered: u64,
    /// Packed answers that repeated, byte for byte, one that was unpacked and checked.
    pub same: u64,
}

/// An object as it was last written, or never.
#[derive(Clone, Debug, Serialize)]
pub struct Written {
    name: String,
    version: Option<u64>,
    alive: bool,
    unsure: bool,
}

/// The outcome of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// Why the case ended; none of its figures counts.
    pub error: Option<String>,
    /// Whether the error is that of a connection, and not of an answer.
    pub unreachable: bool,
    /// Why the server does not do this case.
    pub skipped: Option<String>,
    /// The figures of each part.
    pub parts: Vec<PartOutcome>,
    /// The times of all operations that count.
    latency: Option<Quantiles>,
    first_byte: Option<Quantiles>,
    lag_sent: Option<Quantiles>,
    lag_acked: Option<Quantiles>,
    /// Latencies, or lags from the writes, in microseconds with their counts.
    histogram: Vec<(u64, u32)>,
    /// Seconds of the measurement, up to its last operation.
    pub seconds: f64,
    /// Bytes on the wire.
    pub wire_in: u64,
    /// The same, sent.
    pub wire_out: u64,
    /// Connections that were lost and opened again, and watches that the server ended.
    pub reconnects: u64,
    /// Answers 429, and 503 with a time to wait.
    pub retries: u64,
    /// Objects that are on the server now, or may be.
    pub owned: Vec<Owned>,
    /// The objects that could not be removed, with the reasons.
    pub left: Vec<String>,
    /// Whether the server sends initial events.
    pub initial_events: Option<bool>,
    /// The last state of the objects that were written.
    pub written: Vec<Written>,
    /// The last state of the pods whose status was written.
    pub beside: Vec<Written>,
}

impl Outcome {
    /// The outcome as JSON.
    pub fn json(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}

/// A run on a thread of its own.
#[derive(Debug)]
pub struct Run {
    shared: Arc<Shared>,
    /// Taken by the first that waits for the outcome.
    thread: Mutex<Option<JoinHandle<World>>>,
    /// Why the thread ended early: the first reason stays.
    failed: Arc<Mutex<Option<String>>>,
}

impl Run {
    /// Start a run: its connections are opened, and the measurement waits for `go`.
    pub fn start(target: &Target, plan: Plan) -> Result<Self, String> {
        let (shared, failed) = (Arc::new(Shared::new()), Arc::new(Mutex::new(None)));
        let (theirs, why, target) = (Arc::clone(&shared), Arc::clone(&failed), target.clone());
        let body = move || {
            let mut world = World::new(target, plan);
            let made = agents::all(&mut world);
            if let Err(error) = drive(&mut world, made, &theirs) {
                *why.lock() = Some(error);
            }
            world.target.keep(std::mem::take(&mut world.known));
            theirs.enter(Phase::Over);
            world
        };
        let thread = std::thread::Builder::new().name("bench".to_owned()).spawn(body).map_err(|e| e.to_string())?;
        Ok(Self { shared, thread: Mutex::new(Some(thread)), failed })
    }

    /// Begin the measurement.
    pub fn go(&self) {
        self.shared.go();
    }

    /// End the run as soon as possible.
    pub fn stop(&self) {
        self.shared.stop();
    }

    /// Wait for a later phase than this one; return the present one.
    pub fn wait(&self, phase: Phase, patience: Duration) -> Phase {
        self.shared.wait(phase, patience)
    }

    /// Look at the run.
    pub fn progress(&self) -> Progress {
        self.shared.progress()
    }

    /// Wait for the end, and return the outcome once; with the answer of a single call.
    pub fn outcome(&self) -> Option<(Outcome, Answer)> {
        let thread = self.thread.lock().take()?;
        let mut world = match thread.join() {
            Ok(world) => world,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        let began = world.began.unwrap_or(0);
        let seconds = |last: u64| last.saturating_sub(began) as f64 / 1e9;
        let part = |(figures, part): (&Figures, &Part)| PartOutcome {
            shown: part.shown(),
            ops: figures.ops,
            objects: figures.objects,
            body: figures.body,
            seconds: seconds(figures.last),
            unordered: figures.unordered,
            same: figures.same,
        };
        let collection = world.plan.collection();
        let remaining = world.ledger.remaining().map(|(number, uid)| Owned {
            path: collection.clone(),
            name: churn_name(number),
            uid: uid.cloned(),
        });
        let mut owned: Vec<_> = remaining.collect();
        owned.append(&mut world.owned);
        let written = world.ledger.objects.iter().enumerate().map(|(number, object)| Written {
            name: churn_name(number as u32),
            version: Some(object.version),
            alive: object.alive,
            unsure: object.unsure || object.writes.last().is_some_and(|write| write.acked == 0),
        });
        let beside = world.beside.iter().map(|pod| Written {
            name: pod.name.clone(),
            version: pod.version,
            alive: true,
            unsure: pod.unsure,
        });
        let meter = self.shared.meter();
        let shown = || world.figures.iter().zip(&world.plan.parts).filter(|(_, part)| part.shown()).map(|(f, _)| f);
        let all = |of: fn(&Figures) -> &Histogram| {
            let mut sum = Histogram::new();
            shown().for_each(|figures| sum.merge(of(figures)));
            sum
        };
        let (latency, lag_sent) = (all(|figures| &figures.latency), all(|figures| &figures.lag_sent));
        let times = if lag_sent.quantiles().is_some() { &lag_sent } else { &latency };
        let outcome = Outcome {
            error: self.failed.lock().take(),
            unreachable: world.unreachable,
            skipped: world.skipped.take(),
            parts: world.figures.iter().zip(&world.plan.parts).map(part).collect(),
            histogram: times.counts(),
            latency: latency.quantiles(),
            first_byte: all(|figures| &figures.first_byte).quantiles(),
            lag_sent: lag_sent.quantiles(),
            lag_acked: all(|figures| &figures.lag_acked).quantiles(),
            seconds: shown().map(|figures| seconds(figures.last)).fold(0.0, f64::max),
            wire_in: meter.received,
            wire_out: meter.sent,
            reconnects: world.reconnects,
            retries: world.retries,
            owned,
            left: std::mem::take(&mut world.left),
            initial_events: world.initial_events,
            written: written.collect(),
            beside: beside.collect(),
        };
        Some((outcome, world.answer.take()))
    }
}
