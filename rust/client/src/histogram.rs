//! Durations, counted in buckets at most 1.6 % wide.

use serde::Serialize;

const FINE: u64 = 64;
const BUCKETS: usize = 64 * 36;

/// Counts of durations, from a microsecond to an hour.
#[derive(Clone, Debug)]
pub(crate) struct Histogram {
    count: u64,
    max: u64,
    buckets: Box<[u32; BUCKETS]>,
}

/// Milliseconds below which a share of the durations is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Quantiles {
    pub(crate) p50: f64,
    pub(crate) p90: f64,
    pub(crate) p99: f64,
    pub(crate) max: f64,
}

fn bucket(micros: u64) -> usize {
    if micros < FINE {
        return micros as usize;
    }
    let shift = 64 - micros.leading_zeros() - 7;
    (shift as usize * 64 + (micros >> shift) as usize).min(BUCKETS - 1)
}

impl Histogram {
    pub(crate) fn new() -> Self {
        Self { count: 0, max: 0, buckets: Box::new([0; BUCKETS]) }
    }

    /// Count a duration in nanoseconds.
    pub(crate) fn add(&mut self, nanos: u64) {
        let micros = nanos / 1000;
        self.count += 1;
        self.max = self.max.max(micros);
        let count = &mut self.buckets[bucket(micros)];
        *count = count.saturating_add(1);
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.max = self.max.max(other.max);
        for (mine, theirs) in self.buckets.iter_mut().zip(other.buckets.iter()) {
            *mine = mine.saturating_add(*theirs);
        }
    }

    pub(crate) fn clear(&mut self) {
        if self.count > 0 {
            self.count = 0;
            self.max = 0;
            self.buckets.fill(0);
        }
    }

    /// The quantiles, unless nothing was counted.
    pub(crate) fn quantiles(&self) -> Option<Quantiles> {
        let of = |share| self.quantile(share);
        (self.count > 0).then(|| Quantiles { p50: of(0.5), p90: of(0.9), p99: of(0.99), max: self.max as f64 / 1000.0 })
    }

    fn quantile(&self, share: f64) -> f64 {
        let mut rank = (share * self.count as f64).ceil() as u64;
        for (i, &n) in self.buckets.iter().enumerate() {
            if n == 0 {
                continue;
            }
            rank = rank.saturating_sub(u64::from(n));
            if rank == 0 {
                return self.middle(i as u64);
            }
        }
        self.max as f64 / 1000.0
    }

    fn middle(&self, bucket: u64) -> f64 {
        if bucket < FINE {
            return bucket as f64 / 1000.0;
        }
        let shift = bucket / 64 - 1;
        let low = (bucket - shift * 64) << shift;
        let middle = low as f64 + (1_u64 << shift) as f64 / 2.0;
        middle.min(self.max as f64) / 1000.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_within_two_percent() {
        let mut all = Histogram::new();
        assert_eq!(all.quantiles(), None);
        for micros in 1..=100_000 {
            all.add(micros * 1000);
        }
        let found = all.quantiles().unwrap();
        for (value, want) in [(found.p50, 50.0), (found.p90, 90.0), (found.p99, 99.0), (found.max, 100.0)] {
            assert!((value - want).abs() / want < 0.02, "{value} for {want}");
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
        one.clear();
        assert_eq!(one.quantiles(), None);
    }
}
