//! Counts of conversions and of the calls of plug-ins (apiserver `pkg/storage/value/metrics.go`,
//! `encrypt/envelope/metrics/metrics.go`).

use std::sync::Arc;
use std::time::Duration;

use hydrofoil_types::Clock;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use crate::failure::Failure;

/// The rows of a family at most: names of providers and keys are the user's.
const ROWS: usize = 10_000;
const SECOND: f64 = 1e9;

pub(crate) const FROM: &str = "from_storage";
pub(crate) const TO: &str = "to_storage";

/// The kind of a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// Conversions, by resource, kind, prefix and status.
    Operations,
    /// Durations of conversions that succeeded, by kind and prefix.
    Durations,
    /// Seeds and keys that a plug-in was asked for.
    Misses,
    /// Durations of making seeds.
    Generations,
    /// Seeds that could not be made.
    GenerationFailures,
    /// Durations of calls, by provider, method and code.
    Calls,
    /// Uses of keys, by kind, provider, key and server.
    KeysUsed,
    /// The last use of each.
    KeysUsedAt,
    /// The last time that a plug-in had a key, by provider, key and server.
    KeysSeen,
    /// Keys that cannot be used, by provider and reason.
    InvalidKeys,
    /// The number of known seeds, by provider.
    Seeds,
}

impl Family {
    /// Return its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Operations => "operations",
            Self::Durations => "durations",
            Self::Misses => "misses",
            Self::Generations => "generations",
            Self::GenerationFailures => "generation_failures",
            Self::Calls => "calls",
            Self::KeysUsed => "keys_used",
            Self::KeysUsedAt => "keys_used_at",
            Self::KeysSeen => "keys_seen",
            Self::InvalidKeys => "invalid_keys",
            Self::Seeds => "seeds",
        }
    }

    /// Return the first bucket of its durations in seconds, and their number; each is twice the one before.
    fn buckets(self) -> (f64, usize) {
        match self {
            Self::Calls => (1e-4, 20),
            Self::Generations => (5e-6, 14),
            _ => (5e-6, 25),
        }
    }
}

/// Durations.
#[derive(Clone, Debug)]
pub struct Durations {
    first: f64,
    /// The number by bucket, the infinite one last.
    pub counts: Vec<u64>,
    /// Their sum in seconds.
    pub sum: f64,
}

impl Durations {
    fn new((first, buckets): (f64, usize)) -> Self {
        Self { first, counts: vec![0; buckets.saturating_add(1)], sum: 0.0 }
    }

    /// Return the bounds of the buckets but the infinite one.
    pub fn bounds(&self) -> impl Iterator<Item = f64> {
        std::iter::successors(Some(self.first), |bound| Some(bound * 2.0)).take(self.counts.len().saturating_sub(1))
    }

    fn observe(&mut self, time: Duration) {
        let seconds = time.as_secs_f64();
        let at = self.bounds().position(|bound| seconds <= bound).unwrap_or(self.counts.len().saturating_sub(1));
        if let Some(count) = self.counts.get_mut(at) {
            *count = count.saturating_add(1);
        }
        self.sum += seconds;
    }
}

/// No labels.
pub(crate) const PLAIN: &[&str] = &[];

/// The labels of one row.
pub type Labels = Vec<String>;
type Rows<T> = FxHashMap<Family, FxHashMap<Labels, T>>;

/// The counts of a server, over all its configurations.
#[derive(Debug, Default)]
pub struct Metrics {
    /// Counted from any thread; a scrape copies the rows and renders them without the lock.
    numbers: Mutex<Rows<f64>>,
    /// The same, in seconds.
    durations: Mutex<Rows<Durations>>,
    clock: Arc<Clock>,
}

fn all<T: Clone>(rows: &Mutex<Rows<T>>) -> Vec<(Family, Labels, T)> {
    let rows = rows.lock();
    let each = |(family, rows): (&Family, &FxHashMap<Labels, T>)| {
        let family = *family;
        rows.iter().map(move |(labels, value)| (family, labels.clone(), value.clone())).collect::<Vec<_>>()
    };
    rows.iter().flat_map(each).collect()
}

fn change<T>(
    rows: &Mutex<Rows<T>>,
    family: Family,
    labels: &[impl AsRef<str>],
    new: impl FnOnce() -> T,
    work: impl FnOnce(&mut T),
) {
    let labels: Labels = labels.iter().map(|label| label.as_ref().to_owned()).collect();
    let mut rows = rows.lock();
    let rows = rows.entry(family).or_default();
    if rows.len() < ROWS || rows.contains_key(&labels) {
        work(rows.entry(labels).or_insert_with(new));
    }
}

impl Metrics {
    /// Return no counts yet, of durations by a clock.
    pub fn new(clock: Arc<Clock>) -> Self {
        Self { clock, ..Self::default() }
    }

    /// Return the present numbers.
    pub fn numbers(&self) -> Vec<(Family, Labels, f64)> {
        all(&self.numbers)
    }

    /// Return the present durations.
    pub fn durations(&self) -> Vec<(Family, Labels, Durations)> {
        all(&self.durations)
    }

    /// Return the time since the clock was made.
    pub(crate) fn now(&self) -> Duration {
        self.clock.elapsed()
    }

    /// Return nanoseconds since 1970.
    pub(crate) fn moment(&self) -> i64 {
        self.clock.nanoseconds()
    }

    pub(crate) fn count(&self, family: Family, labels: &[impl AsRef<str>]) {
        change(&self.numbers, family, labels, || 0.0, |count| *count += 1.0);
    }

    pub(crate) fn set(&self, family: Family, labels: &[impl AsRef<str>], to: f64) {
        change(&self.numbers, family, labels, || 0.0, |number| *number = to);
    }

    /// Set a row to the present time.
    pub(crate) fn stamp(&self, family: Family, labels: &[impl AsRef<str>]) {
        self.set(family, labels, self.moment() as f64 / SECOND);
    }

    /// Add the duration since a time.
    pub(crate) fn observe(&self, family: Family, labels: &[impl AsRef<str>], begun: Duration) {
        let time = self.now().saturating_sub(begun);
        change(&self.durations, family, labels, || Durations::new(family.buckets()), |found| found.observe(time));
    }

    /// Count a conversion, and its duration if it succeeded (`RecordTransformation`).
    pub(crate) fn record(&self, resource: &str, kind: &str, prefix: &str, begun: Duration, failure: Option<&Failure>) {
        let status = failure.map_or("OK", Failure::status);
        self.count(Family::Operations, &[resource, kind, prefix, status]);
        if failure.is_none() {
            self.observe(Family::Durations, &[kind, prefix], begun);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Durations, Metrics, TO};
    use crate::failure::Failure;

    #[test]
    fn durations_are_in_their_buckets() {
        let mut found = Durations::new((1.0, 3));
        for seconds in [0, 1, 2, 4, 5] {
            found.observe(Duration::from_secs(seconds));
        }
        assert_eq!(found.bounds().collect::<Vec<_>>(), [1.0, 2.0, 4.0]);
        assert_eq!(found.counts, [2, 1, 1, 1]);
        assert!((found.sum - 12.0).abs() < 1e-9);
    }

    #[test]
    fn only_successes_have_durations() {
        let metrics = Metrics::default();
        metrics.record("secrets", TO, "x:", Duration::ZERO, None);
        metrics.record("secrets", TO, "x:", Duration::ZERO, Some(&Failure::new("no")));
        let found = metrics.numbers();
        let mut statuses: Vec<_> = found.iter().filter_map(|(_, labels, _)| labels.last()).collect();
        statuses.sort_unstable();
        assert_eq!(statuses, ["OK", "unknown-non-grpc"]);
        assert_eq!(metrics.durations().iter().map(|(.., row)| row.counts.iter().sum::<u64>()).sum::<u64>(), 1);
    }
}
