//! Durations, counted in microseconds with three significant digits.

use hdrhistogram::Histogram as Counts;
use serde::Serialize;

/// The longest duration that is told from longer ones, in microseconds: an hour.
const LONGEST: u64 = 3_600_000_000;
/// The digits of a duration that are kept.
const DIGITS: u8 = 3;

/// Counts of durations, from a microsecond to an hour.
#[derive(Clone, Debug)]
pub(crate) struct Histogram(Counts<u32>);

/// Milliseconds below which a share of the durations is, and how many durations there are.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Quantiles {
    pub(crate) count: u64,
    pub(crate) p50: f64,
    pub(crate) p90: f64,
    pub(crate) p95: f64,
    pub(crate) p99: f64,
    #[serde(rename = "p99.9")]
    pub(crate) p999: f64,
    pub(crate) max: f64,
}

impl Histogram {
    #[allow(clippy::expect_used, reason = "the bounds are constants, which the test below tries")]
    pub(crate) fn new() -> Self {
        Self(Counts::new_with_bounds(1, LONGEST, DIGITS).expect("valid bounds"))
    }

    /// Count a duration in nanoseconds.
    pub(crate) fn add(&mut self, nanos: u64) {
        self.0.saturating_record(nanos / 1000);
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        // Both have the same bounds, so that nothing can be out of them.
        let _ = self.0.add(&other.0);
    }

    pub(crate) fn clear(&mut self) {
        if !self.0.is_empty() {
            self.0.reset();
        }
    }

    /// The quantiles, unless nothing was counted.
    pub(crate) fn quantiles(&self) -> Option<Quantiles> {
        let of = |share| self.0.value_at_quantile(share).min(self.0.max()) as f64 / 1000.0;
        (!self.0.is_empty()).then(|| Quantiles {
            count: self.0.len(),
            p50: of(0.5),
            p90: of(0.9),
            p95: of(0.95),
            p99: of(0.99),
            p999: of(0.999),
            max: of(1.0),
        })
    }

    /// Durations in microseconds, each with its count: those of two histograms are merged by adding the counts.
    pub(crate) fn counts(&self) -> Vec<(u64, u32)> {
        self.0.iter_recorded().map(|step| (step.value_iterated_to(), step.count_at_value())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_within_a_thousandth() {
        let mut all = Histogram::new();
        assert_eq!(all.quantiles(), None);
        for micros in 1..=100_000 {
            all.add(micros * 1000);
        }
        let found = all.quantiles().unwrap();
        assert_eq!(found.count, 100_000);
        let wanted = [
            (found.p50, 50.0),
            (found.p90, 90.0),
            (found.p95, 95.0),
            (found.p99, 99.0),
            (found.p999, 99.9),
            (found.max, 100.0),
        ];
        for (value, want) in wanted {
            assert!((value - want).abs() / want < 0.001, "{value} for {want}");
        }
    }

    #[test]
    fn a_merge_is_the_same_as_counting_at_one_place() {
        let (mut one, mut two, mut both) = (Histogram::new(), Histogram::new(), Histogram::new());
        for micros in [0, 3, 63, 64, 65, 1000, 5_000_000, u64::MAX / 2000] {
            if micros % 2 == 0 { &mut one } else { &mut two }.add(micros * 1000);
            both.add(micros * 1000);
        }
        one.merge(&two);
        assert_eq!(one.quantiles(), both.quantiles());
        assert_eq!(one.counts(), both.counts());
        assert_eq!(one.counts().iter().map(|(_, count)| u64::from(*count)).sum::<u64>(), 8);
        one.clear();
        assert_eq!(one.quantiles(), None);
    }
}
