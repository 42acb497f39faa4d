//! A number as a part of its limit, over time (apiserver `pkg/util/flowcontrol/metrics/timing_ratio_histogram.go`).

use hydrofoil_metrics::Histogram;

/// How long each ratio lasted, by bucket: one observation a nanosecond.
#[derive(Clone, Debug)]
pub struct Timing {
    bounds: &'static [f64],
    value: u64,
    limit: u64,
    since: f64,
    /// The bucket of the present ratio.
    place: usize,
    /// Seconds by bucket; the last one has no bound.
    seconds: Vec<f64>,
    /// The sum of ratios times seconds.
    sum: f64,
}

impl Timing {
    /// Begin at zero of one.
    pub fn new(bounds: &'static [f64], now: f64) -> Self {
        let seconds = vec![0.0; bounds.len().saturating_add(1)];
        Self { bounds, value: 0, limit: 1, since: now, place: 0, seconds, sum: 0.0 }
    }

    /// Return the present number.
    pub fn value(&self) -> u64 {
        self.value
    }

    /// Change the number.
    pub fn set(&mut self, value: u64, now: f64) {
        if value == self.value {
            return;
        }
        self.pass(now);
        self.value = value;
        self.find();
    }

    /// Change the limit; of zero, each ratio is that of one.
    pub fn limit(&mut self, limit: u64, now: f64) {
        self.pass(now);
        self.limit = limit.max(1);
        self.find();
    }

    /// Return the observations until now.
    pub fn until(&mut self, now: f64) -> Histogram {
        self.pass(now);
        let counts = self.seconds.iter().map(|seconds| (seconds * 1e9).round() as u64).collect();
        Histogram::of(self.bounds.to_vec(), counts, self.sum * 1e9)
    }

    fn ratio(&self) -> f64 {
        self.value as f64 / self.limit as f64
    }

    fn find(&mut self) {
        self.place = Histogram::bucket(self.bounds, self.ratio());
    }

    /// Add the time since the last change.
    fn pass(&mut self, now: f64) {
        let passed = (now - self.since).max(0.0);
        if let Some(seconds) = self.seconds.get_mut(self.place) {
            *seconds += passed;
        }
        self.sum += self.ratio() * passed;
        self.since = now;
    }
}

#[cfg(test)]
mod tests {
    use super::Timing;

    #[test]
    fn ratios_count_by_the_nanosecond() {
        let mut found = Timing::new(&[0.0, 0.5, 1.0], 0.0);
        found.limit(4, 0.0);
        found.set(2, 1.0);
        found.set(5, 3.0);
        found.limit(5, 4.0);
        let seen = found.until(6.0);
        assert_eq!(seen.counts(), [1_000_000_000, 2_000_000_000, 2_000_000_000, 1_000_000_000]);
        assert!((seen.sum() - (2.0 * 0.5 + 1.25 + 2.0) * 1e9).abs() < 1.0);
    }

    #[test]
    fn a_limit_of_zero_is_one() {
        let mut found = Timing::new(&[0.0, 1.0], 0.0);
        found.limit(0, 0.0);
        found.set(1, 0.0);
        assert_eq!(found.until(1.0).counts(), [0, 1_000_000_000, 0]);
    }
}
