//! Numbers of values by bucket: what each request adds to metrics; and the metrics of several processes as those of one.

// Input from outside must not make the server panic: each operation that could panic is reviewed.
#![warn(clippy::string_slice, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod exposition;

pub use exposition::merge;

/// Counts by bucket, and the sum of all values.
#[derive(Clone, Debug)]
pub struct Histogram {
    bounds: Box<[f64]>,
    counts: Vec<u64>,
    sum: f64,
}

impl Histogram {
    /// Make an empty histogram of these upper bounds, which are in their order.
    pub fn new(bounds: Vec<f64>) -> Self {
        let counts = vec![0; bounds.len().saturating_add(1)];
        Self { bounds: bounds.into(), counts, sum: 0.0 }
    }

    /// Make a histogram of counts from elsewhere; `counts` has one more than there are bounds.
    pub fn of(bounds: Vec<f64>, counts: Vec<u64>, sum: f64) -> Self {
        Self { bounds: bounds.into(), counts, sum }
    }

    /// Return the bucket of a value: that of the first bound that it does not exceed.
    pub fn bucket(bounds: &[f64], value: f64) -> usize {
        bounds.partition_point(|bound| *bound < value)
    }

    /// Return the upper bounds.
    pub fn bounds(&self) -> &[f64] {
        &self.bounds
    }

    /// Return the numbers of values by bucket; the last bucket has no bound.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Return the sum of all values.
    pub fn sum(&self) -> f64 {
        self.sum
    }

    /// Count a value, once or many times.
    pub fn observe(&mut self, value: f64, times: u64) {
        self.count(value, times);
        self.sum += value * times as f64;
    }

    /// Add the counts of another histogram, whose bounds are these and maybe finer ones.
    pub fn add(&mut self, other: &Self) {
        for (number, count) in other.counts.iter().enumerate() {
            self.count(other.bounds.get(number).copied().unwrap_or(f64::INFINITY), *count);
        }
        self.sum += other.sum;
    }

    fn count(&mut self, value: f64, times: u64) {
        if let Some(count) = self.counts.get_mut(Self::bucket(&self.bounds, value)) {
            *count = count.saturating_add(times);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Histogram;

    #[test]
    fn a_bound_belongs_to_its_bucket() {
        let mut found = Histogram::new(vec![1.0, 2.0]);
        for value in [0.5, 1.0, 1.5, 2.0, 2.5] {
            found.observe(value, 1);
        }
        assert_eq!(found.counts(), [2, 2, 1]);
        assert!((found.sum() - 7.5).abs() < f64::EPSILON);
    }

    #[test]
    fn coarser_buckets_take_the_counts_of_finer_ones() {
        let (mut fine, mut coarse) = (Histogram::new(vec![1.0, 2.0, 3.0]), Histogram::new(vec![2.0]));
        fine.observe(2.0, 3);
        fine.observe(9.0, 1);
        coarse.add(&fine);
        assert_eq!(coarse.counts(), [3, 1]);
        assert!((coarse.sum() - 15.0).abs() < f64::EPSILON);
    }
}
